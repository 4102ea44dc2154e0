# Finds any CBLAS: OpenBLAS first (its pthread build where several lie side by side), then others.
# Defines the target CBLAS::CBLAS, which links it, and CBLAS_INCLUDE_DIR, where its header is; this and
# CBLAS_LIBRARY may be given by hand.
# The installed package brings this file along, because a static MicroTape needs the BLAS again.

set(hints /opt/homebrew/opt/openblas /usr/local/opt/openblas)  # Homebrew links it nowhere
find_path(CBLAS_INCLUDE_DIR NAMES cblas.h HINTS ${hints}
  PATH_SUFFIXES include openblas-pthread include/openblas-pthread openblas include/openblas)
find_library(CBLAS_LIBRARY NAMES openblas mkl_rt blis cblas blas HINTS ${hints}
  PATH_SUFFIXES lib openblas-pthread)

# Link once: a plain libblas may lack the C interface.
if(CBLAS_INCLUDE_DIR AND CBLAS_LIBRARY)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${CBLAS_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${CBLAS_LIBRARY})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles(
    "#include <cblas.h>
    int main() { double x[1] = {1}; return static_cast<int>(cblas_ddot(1, x, 1, x, 1)); }"
    CBLAS_LINKS)
  # OpenBLAS has threads of its own, and a setting for them.
  check_cxx_source_compiles(
    "#include <cblas.h>
    int main() { openblas_set_num_threads(openblas_get_num_threads());
      return openblas_get_parallel() == OPENBLAS_SEQUENTIAL; }"
    CBLAS_IS_OPENBLAS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_QUIET)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR CBLAS_LINKS)
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  target_link_libraries(CBLAS::CBLAS INTERFACE ${CBLAS_LIBRARY})
endif()
