# G01 of tests/cases/cases.json: each public header compiles on its own and may be included twice.
#   cmake -D COMPILER=g++ -D ROOT=source -D INCLUDE=folder -D SCRATCH=folder -P check.cmake

cmake_minimum_required(VERSION 3.22)
include(${ROOT}/cmake/public_headers.cmake)
list(LENGTH public_headers count)
if(count LESS 20)
  message(FATAL_ERROR "there are ${count} public headers: the list is not what it was")
endif()
file(MAKE_DIRECTORY ${SCRATCH})
foreach(header IN LISTS public_headers)
  file(WRITE ${SCRATCH}/twice.cpp
    "#include <microtape/${header}>\n#include <microtape/${header}>\nint main() {}\n")
  execute_process(RESULT_VARIABLE result ERROR_VARIABLE text COMMAND ${COMPILER} -std=c++20
    -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I ${INCLUDE} ${SCRATCH}/twice.cpp)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "${header} does not compile on its own:\n${text}")
  endif()
endforeach()
