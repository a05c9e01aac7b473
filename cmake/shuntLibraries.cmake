# Finds the libraries that Shunt links, for its own build and for whoever links its static libraries.
#
# Not by the packages' own CMake files: Debian's for oneDNN demands OpenCL, and the one for libzip
# demands three tools that the library does not need.

# An imported target shunt::NAME. Extra arguments go to find_path and find_library (REQUIRED).
function(shunt_find_library name header library)
  find_path(SHUNT_${name}_INCLUDE ${header} ${ARGN})
  find_library(SHUNT_${name}_LIBRARY ${library} ${ARGN})
  mark_as_advanced(SHUNT_${name}_INCLUDE SHUNT_${name}_LIBRARY)
  if(SHUNT_${name}_INCLUDE AND SHUNT_${name}_LIBRARY AND NOT TARGET shunt::${name})
    add_library(shunt::${name} UNKNOWN IMPORTED)
    set_target_properties(shunt::${name} PROPERTIES IMPORTED_LOCATION ${SHUNT_${name}_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${SHUNT_${name}_INCLUDE})
  endif()
endfunction()

# oneDNN (Debian: libdnnl-dev)
macro(shunt_find_dnnl)
  shunt_find_library(dnnl oneapi/dnnl/dnnl.hpp dnnl ${ARGN})
endmacro()

# libzip and zlib (Debian: libzip-dev, zlib1g-dev)
macro(shunt_find_zip)
  shunt_find_library(zip zip.h zip ${ARGN})
  find_package(ZLIB ${ARGN})
endmacro()
