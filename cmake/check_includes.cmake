# The rules of the house for includes: cmake -D ROOT=<source folder> -P check_includes.cmake
#   tutorials -> layers -> tape -> core: an include never points upwards;
#   a header includes nothing heavy, since everyone who uses us pays for it.

set(above_core "tape|layers|tests|tutorials")
set(above_tape "layers|tests|tutorials")
set(above_layers "tests|tutorials")
set(heavy "[<\"](iostream|functional|regex|nlohmann/.*|cblas\\.h)[>\"]")
set(found 0)

foreach(house core tape layers)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${house}/*.hpp ${ROOT}/${house}/*.cpp)
  foreach(file IN LISTS files)
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
