# The installed package: headers, library, and what find_package(MicroTape) reads. It holds no
# absolute path, so that the prefix can be moved.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/MicroTape)

install(TARGETS microtape EXPORT MicroTapeTargets)
install(EXPORT MicroTapeTargets NAMESPACE microtape:: DESTINATION ${package_dir})

get_target_property(library_type microtape TYPE)
string(COMPARE EQUAL "${library_type}" STATIC_LIBRARY MICROTAPE_IS_STATIC)
configure_package_config_file(cmake/MicroTapeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MicroTapeConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/MicroTapeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/FindCBLAS.cmake ${PROJECT_BINARY_DIR}/MicroTapeConfig.cmake
  ${PROJECT_BINARY_DIR}/MicroTapeConfigVersion.cmake DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/microtape)
microtape_install_headers(${public_headers})
