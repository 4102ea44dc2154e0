# G06 of tests/cases/cases.json: the public headers compile beside the macros of windows.h, and need
# no M_PI.
#   cmake -D COMPILER=g++ -D ROOT=source -D INCLUDE=folder -D SCRATCH=folder -P macros.cmake

cmake_minimum_required(VERSION 3.22)
include(${ROOT}/cmake/public_headers.cmake)
set(macros "#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define small char
#define I 1
#undef M_PI
")
set(standard "")
set(ours "")
foreach(header IN LISTS public_headers)
  string(APPEND ours "#include <microtape/${header}>\n")
  file(STRINGS ${ROOT}/${header} lines REGEX "^#include <[a-z_]+>")
  list(APPEND standard ${lines})
endforeach()
list(JOIN standard "\n" standard)

# As the case has it, and again with the standard library before the macros: libstdc++ undoes min
# and max where it is first included, so they would not meet our headers at all.
foreach(before "" "#include <cmath>\n${standard}\n")
  file(WRITE ${SCRATCH}/macros.cpp "${before}${macros}${ours}int main() {}\n")
  execute_process(RESULT_VARIABLE result ERROR_VARIABLE text COMMAND ${COMPILER} -std=c++20
    -pedantic-errors -fsyntax-only -I ${INCLUDE} ${SCRATCH}/macros.cpp)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "the public headers do not compile beside these macros:\n${text}")
  endif()
endforeach()
