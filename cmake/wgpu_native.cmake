# wgpu-native 29: webgpu.h and wgpu.h to compile with, and the library that is loaded at run time.
#
# From SHUNT_WGPU_ROOT where that is given (webgpu.h, wgpu.h, libwgpu_native.so), else from the wheel
# pinned in wgpu_native.txt. Sets SHUNT_WGPU_INCLUDE and SHUNT_WGPU_LIBRARY.
function(shunt_find_wgpu)
  set(SHUNT_WGPU_ROOT "" CACHE PATH "a folder with webgpu.h, wgpu.h and libwgpu_native.so; empty: fetch the pinned wheel")
  set(root "${SHUNT_WGPU_ROOT}")
  if(NOT root)
    set(place "${CMAKE_BINARY_DIR}/wgpu_native")
    set(root "${place}/wgpu/resources")
    if(NOT EXISTS "${root}/webgpu.h")
      find_package(Python3 REQUIRED COMPONENTS Interpreter)
      message(STATUS "Fetching wgpu-native")
      execute_process(
        COMMAND ${Python3_EXECUTABLE} -m pip download -q --disable-pip-version-check --no-deps --require-hashes
                --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 --abi none
                --platform manylinux_2_28_x86_64 -r ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/wgpu_native.txt -d ${place}
        RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_VARIABLE said)
      file(GLOB wheel "${place}/wgpu-*.whl")
      if(failed OR NOT wheel)
        message(FATAL_ERROR "wgpu-native could not be fetched:\n${said}\n"
                "-DSHUNT_WGPU_ROOT=DIR names a folder that has it, -DSHUNT_GPU=OFF builds without graphics cards.")
      endif()
      file(ARCHIVE_EXTRACT INPUT "${wheel}" DESTINATION "${place}")
      file(RENAME "${root}/libwgpu_native-release.so" "${root}/libwgpu_native.so")
    endif()
  endif()
  set(SHUNT_WGPU_INCLUDE "${root}" PARENT_SCOPE)
  set(SHUNT_WGPU_LIBRARY "${root}/libwgpu_native.so" PARENT_SCOPE)
endfunction()
