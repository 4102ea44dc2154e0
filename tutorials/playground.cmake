# What tutorials/run.sh needs to compile a file of the user's own and run it at once: the flags, the
# headers compiled in advance, and what to link. Two ways: `checked` (AddressSanitizer and
# UndefinedBehaviorSanitizer watch the user's code) and `fast`.

set(playground ${PROJECT_BINARY_DIR}/playground)
file(CONFIGURE OUTPUT ${playground}/all.hpp CONTENT "#include <microtape/microtape.hpp>\n")
file(CONFIGURE OUTPUT ${playground}/compiler CONTENT "${CMAKE_CXX_COMPILER}\n")

set(flags -std=c++20 -pthread -Wall -Wextra -fmax-errors=5 -I${PROJECT_BINARY_DIR}/include)
set(fast_flags ${flags} -O2)
set(checked_flags ${flags} -g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all
  -fno-omit-frame-pointer)
set(link_flags $<TARGET_FILE:microtape> -Wl,-rpath,$<TARGET_FILE_DIR:microtape>)
if(MICROTAPE_GEMM_USED STREQUAL "cblas")
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
add_way(fast ${link_flags})

# Two sources are compiled once more, with the sanitizers, and linked in front of the library. The
# pool: in a checked program each Tensor is a block of its own, so that a write beyond its end is seen.
# And record(), where every op looks at its inputs: a rule that holds a Var by reference often only
# hands it on to an op, and here it is seen that the Var is gone.
set(watched)
foreach(source core/pool tape/record)
  get_filename_component(name ${source} NAME)
  set(object ${playground}/${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} ${checked_flags} -MD -MQ ${object} -MF ${object}.d
      -c ${PROJECT_SOURCE_DIR}/${source}.cpp -o ${object}
    DEPENDS ${PROJECT_SOURCE_DIR}/${source}.cpp DEPFILE ${object}.d VERBATIM
    COMMENT "Compiling ${source}.cpp for tutorials/run.sh")
  list(APPEND watched ${object})
endforeach()
add_way(checked ${watched} ${link_flags})

add_custom_target(microtape_playground DEPENDS ${fast_header} ${checked_header} ${watched})
add_dependencies(microtape_playground microtape)
