# What tutorials/run.sh needs to compile a file of the user's own and run it at once: the flags, the
# headers compiled in advance, and what to link. Two ways: `checked` (AddressSanitizer and
# UndefinedBehaviorSanitizer watch the user's code) and `fast`.
#
# A student's folder of exercises has a copy of this file, of the sources below and of the internal
# headers that they include; it says where, and links an installed MicroTape.

if(NOT TARGET microtape)
  set(microtape_sources ${CMAKE_CURRENT_LIST_DIR}/microtape)
  set(checker ${CMAKE_CURRENT_LIST_DIR})
  get_target_property(include_folders microtape::microtape INTERFACE_INCLUDE_DIRECTORIES)
  list(APPEND include_folders ${CMAKE_CURRENT_LIST_DIR})
else()
  set(microtape_sources ${PROJECT_SOURCE_DIR})
  set(checker ${CMAKE_CURRENT_LIST_DIR}/exercises/checker)
  set(include_folders ${PROJECT_BINARY_DIR}/include)
endif()
list(TRANSFORM include_folders PREPEND -I)

set(playground ${PROJECT_BINARY_DIR}/playground)
file(CONFIGURE OUTPUT ${playground}/all.hpp CONTENT "#include <microtape/microtape.hpp>\n")
file(CONFIGURE OUTPUT ${playground}/compiler CONTENT "${CMAKE_CXX_COMPILER}\n")

set(flags -std=c++20 -pthread -Wall -Wextra -fmax-errors=5 ${include_folders})
set(fast_flags ${flags} -O2)
set(checked_flags ${flags} -g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all
  -fno-omit-frame-pointer -iquote${checker})
set(link_flags $<TARGET_FILE:microtape::microtape>
  -Wl,-rpath,$<TARGET_FILE_DIR:microtape::microtape>)
if(TARGET CBLAS::CBLAS)
  get_filename_component(blas_folder ${CBLAS_LIBRARY} DIRECTORY)
  list(APPEND link_flags ${CBLAS_LIBRARY} -Wl,-rpath,${blas_folder})
endif()

# Compiles the headers in advance, and writes all flags into response files: <way>.flags to compile
# with, <way>.link to link with.
function(add_way way)
  set(header ${playground}/${way}/all.hpp)
  add_custom_command(OUTPUT ${header}.gch
    COMMAND ${CMAKE_COMMAND} -E make_directory ${playground}/${way}
    COMMAND ${CMAKE_CXX_COMPILER} ${${way}_flags} -MD -MQ ${header}.gch -MF ${header}.d
      -x c++-header ${playground}/all.hpp -o ${header}.gch
    DEPENDS ${playground}/all.hpp DEPFILE ${header}.d VERBATIM
    COMMENT "Compiling the headers for tutorials/run.sh (${way})")
  set(${way}_header ${header}.gch PARENT_SCOPE)
  list(JOIN ${way}_flags "\"\n\"" compile)
  file(GENERATE OUTPUT ${playground}/${way}.flags CONTENT "\"${compile}\"\n-include \"${header}\"\n")
  list(JOIN ARGN "\"\n\"" link)
  file(GENERATE OUTPUT ${playground}/${way}.link CONTENT "\"${link}\"\n")
endfunction()
if(TARGET microtape)
  add_way(fast ${link_flags})
endif()

# Compiles a source in advance, as `checked` programs are, to playground/<name>.o.
function(add_checked_object name source)
  set(object ${playground}/${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} ${checked_flags} -MD -MQ ${object} -MF ${object}.d
      -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d VERBATIM
    COMMENT "Compiling ${name}.cpp for tutorials/run.sh")
endfunction()

# Two sources are compiled once more, with the sanitizers, and linked in front of the library. The
# pool: in a checked program each Tensor is a block of its own, so that a write beyond its end is seen.
# And record(), where every op looks at its inputs: a rule that holds a Var by reference often only
# hands it on to an op, and here it is seen that the Var is gone.
add_checked_object(pool ${microtape_sources}/core/pool.cpp)
add_checked_object(record ${microtape_sources}/tape/record.cpp)
set(watched ${playground}/pool.o ${playground}/record.o)
add_way(checked ${watched} ${link_flags})

# What checks an exercise; exercises/run.sh links it with the student's file.
add_checked_object(check ${checker}/check.cpp)
add_checked_object(main ${checker}/main.cpp)

add_custom_target(microtape_playground DEPENDS ${fast_header} ${checked_header} ${watched}
  ${playground}/check.o ${playground}/main.o)
add_dependencies(microtape_playground microtape::microtape)
