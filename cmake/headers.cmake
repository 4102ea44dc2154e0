# Who includes <microtape/core/tensor.hpp> gets core/tensor.hpp. The build tree has a forwarding
# header of one line for each, so that debuggers show the real file and nobody's own core/ collides.

function(microtape_forward_headers)
  foreach(header IN LISTS ARGN)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/microtape/${header} @ONLY
      CONTENT "#pragma once\n#include \"${PROJECT_SOURCE_DIR}/${header}\"\n")
  endforeach()
endfunction()

# Writes <microtape/microtape.hpp>, which includes each header given.
function(microtape_umbrella_header)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include <microtape/\\1>" OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" lines)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/microtape/microtape.hpp @ONLY
    CONTENT "#pragma once\n\n// All of MicroTape.\n\n${lines}\n")
endfunction()

# Installs the real headers, folder by folder.
function(microtape_install_headers)
  foreach(header IN LISTS ARGN)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/microtape/${folder})
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/include/microtape/microtape.hpp
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/microtape)
endfunction()
