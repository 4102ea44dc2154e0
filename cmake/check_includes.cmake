# The rules of the house for headers: cmake -D ROOT=<source folder> -P check_includes.cmake
#   each is listed in public_headers.cmake, or says "Internal" at its top;
#   tutorials -> layers -> tape -> core: an include never points upwards;
#   a header includes nothing heavy, since everyone who uses us pays for it.

cmake_minimum_required(VERSION 3.22)
set(above_core "tape|layers|tests|tutorials")
set(above_tape "layers|tests|tutorials")
set(above_layers "tests|tutorials")
set(heavy "[<\"](iostream|functional|regex|nlohmann/.*|cblas\\.h)[>\"]")
set(found 0)
include(${ROOT}/cmake/public_headers.cmake)

foreach(house core tape layers)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${house}/*.hpp ${ROOT}/${house}/*.cpp)
  foreach(file IN LISTS files)
    file(READ ${ROOT}/${file} top LIMIT 600)
    if(file MATCHES "hpp$" AND NOT file IN_LIST public_headers AND NOT top MATCHES "Internal")
      message(SEND_ERROR "${file} is neither in cmake/public_headers.cmake nor marked Internal")
    endif()
    file(STRINGS ${ROOT}/${file} includes REGEX "^ *#include")
    foreach(include IN LISTS includes)
      if(include MATCHES "<microtape/(${above_${house}})/")
        message(SEND_ERROR "${file} points upwards: ${include}")
      elseif(include MATCHES "\"")
        message(SEND_ERROR "${file}: write it as <microtape/...>: ${include}")
      elseif(file MATCHES "hpp$" AND include MATCHES "${heavy}")
        message(SEND_ERROR "${file} is a header and includes something heavy: ${include}")
      endif()
      math(EXPR found "${found} + 1")
    endforeach()
  endforeach()
endforeach()

if(found EQUAL 0)
  message(FATAL_ERROR "no includes found in ${ROOT}")
endif()
