# Registers each TEST_CASE of a Catch2 program (2.13 or 3) with ctest, whatever stands in its name:
# Catch2's own catch_discover_tests loses names with [ or ; in them.
#
# Included, it defines microtape_discover_tests(target prefix [labels]). Run after the build as
#   cmake -D PROGRAM=.. -D PREFIX=.. -D LABELS=.. -D CATCH2=version -D FILE=.. -P discover_tests.cmake
# it asks PROGRAM for the names and writes FILE, which ctest reads.

function(microtape_discover_tests target prefix)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_list.cmake)
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${file} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${target}> -D PREFIX=${prefix}
    -D LABELS=${ARGN} -D CATCH2=${Catch2_VERSION} -D FILE=${file}
    -P ${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake)
  # Until the program is built, one test stands for it and fails.
  set(include_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  file(WRITE ${include_file} "if(EXISTS [==[${file}]==])\n  include([==[${file}]==])\n"
    "else()\n  add_test(${target}_is_not_built ${target}_is_not_built)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
endfunction()

if(NOT DEFINED PROGRAM)
  return()
endif()

cmake_minimum_required(VERSION 3.22)
if(CATCH2 VERSION_LESS 3)
  set(list_names --list-test-names-only)  # its exit code is the number of tests
  set(no_match_is_an_error "--warn NoTests")
else()
  set(list_names --list-tests --verbosity quiet)
endif()
execute_process(COMMAND ${PROGRAM} ${list_names} OUTPUT_VARIABLE names RESULT_VARIABLE result)
if(NOT result MATCHES "^[0-9]+$" OR (result AND NOT CATCH2 VERSION_LESS 3))
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "${PROGRAM} cannot list its tests: ${result}")
endif()

# CMake's lists split at ; and not within [ ]: let other characters stand for them meanwhile.
string(ASCII 1 semicolon)
string(ASCII 2 open)
string(ASCII 3 close)
string(REPLACE ";" "${semicolon}" names "${names}")
string(REPLACE "[" "${open}" names "${names}")
string(REPLACE "]" "${close}" names "${names}")
string(REPLACE "\n" ";" names "${names}")

set(script "")
foreach(name IN LISTS names)
  if(name STREQUAL "")
    continue()
  endif()
  # What has a meaning in Catch2's test specifications is escaped.
  string(REGEX REPLACE "([\\\\~,\"${open}${close}])" "\\\\\\1" pattern "${name}")
  set(title "[==[${PREFIX}${name}]==]")
  string(APPEND script "add_test(${title} [==[${PROGRAM}]==] [==[${pattern}]==] "
    "${no_match_is_an_error})\n"
    "set_tests_properties(${title} PROPERTIES LABELS [==[${LABELS}]==])\n")
endforeach()
string(REPLACE "${semicolon}" ";" script "${script}")
string(REPLACE "${open}" "[" script "${script}")
string(REPLACE "${close}" "]" script "${script}")
file(WRITE ${FILE} "${script}")
