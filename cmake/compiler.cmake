# Everything that depends on the compiler or the platform; a flag that is not understood is left out.

include(CheckCXXCompilerFlag)

# Adds each flag that the compiler knows to a target.
function(microtape_add_flags target)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "MICROTAPE_HAS${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(${target} PRIVATE ${flag})
    endif()
  endforeach()
endfunction()

# Warnings for our own code: always shown, errors only where CI asks. Four of GCC's that guess from
# optimised code are left out: from -O3 on they fire inside std::string and std::sort (GCC bug
# 105651 is one of many); AddressSanitizer sees what they look for.
function(microtape_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>"
    $<$<BOOL:${MICROTAPE_WERROR}>:-Werror>)
endfunction()

# Tests and tutorials compute in the library: -O1 halves the time that they take to compile, and
# -O0, for Debug and sanitizers, takes two fifths off that.
function(microtape_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Release>,-O1,$<$<CONFIG:Debug>:-O0>>)
endfunction()

# Kernels for the CPU of this machine: GCC and Clang say it in two ways, by architecture.
function(microtape_native target)
  # Some compilers know the CPU too little, and warn of what they make of it.
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_cxx_compiler_flag(-march=native MICROTAPE_HAS_MARCH_NATIVE)
  unset(CMAKE_REQUIRED_FLAGS)
  if(MICROTAPE_HAS_MARCH_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  else()
    microtape_add_flags(${target} -mcpu=native)
  endif()
endfunction()

# A shared library shows the names of namespace microtape (and their vtables and type information),
# and nothing that it has from others. A list for the linker does that for all compilers, and
# spares every class in every header an export macro.
function(microtape_export_names target)
  set(names _ZN9microtape* _ZN[KRO]9microtape* _ZNK[RO]9microtape* _ZT[ISV]N9microtape*
    _ZT[ISV]NK9microtape* _ZGVN9microtape*)
  if(APPLE)
    list(TRANSFORM names PREPEND "_")
    list(JOIN names "\n" text)
    set(file ${PROJECT_BINARY_DIR}/exported_names.txt)
    set(option LINKER:-exported_symbols_list,${file})
  else()
    list(JOIN names ";\n    " text)
    set(text "{\n  global:\n    ${text};\n  local:\n    *;\n};")
    set(file ${PROJECT_BINARY_DIR}/exported_names.map)
    set(option LINKER:--version-script=${file})
  endif()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}\n" @ONLY)
  target_link_options(${target} PRIVATE ${option})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${file})
  # Nobody replaces our functions at load time, so calls among them may be inlined.
  microtape_add_flags(${target} -fno-semantic-interposition)
endfunction()
