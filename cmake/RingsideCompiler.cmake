# The compiler options of our own code. Our targets link `ringside_options` to get them; third-party code does not.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# These settings do not apply when Ringside is a part of another project.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
endif()

add_library(ringside_options INTERFACE)
target_compile_features(ringside_options INTERFACE cxx_std_20)
target_include_directories(ringside_options INTERFACE ${PROJECT_BINARY_DIR}/include)
target_compile_options(ringside_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  # Results must be equal on every machine, so no vectorised clone may fuse multiplications and additions.
  -ffp-contract=off)
if(RINGSIDE_FAULT_POINTS)
  target_compile_definitions(ringside_options INTERFACE RINGSIDE_FAULT_POINTS)
endif()
if(RINGSIDE_WARNINGS_AS_ERRORS)
  target_compile_options(ringside_options INTERFACE -Werror)
endif()
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  # GCC 12 wrongly warns of uninitialised values where a sanitizer has changed the code.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # A sanitizer replaces dlopen, and the dynamic linker then looks only at RPATH.
  add_link_options(-Wl,--disable-new-dtags)
  # An ifunc chooses the vectorised clone, and it runs before a sanitizer's runtime is ready.
  add_compile_definitions(RINGSIDE_NO_TARGET_CLONES)
endif()

# Precompiles the headers that take most of the compile time in experiments/: ringside_precompile(TARGET)
function(ringside_precompile target)
  target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(${target} PRIVATE -pthread)
  if(NOT TARGET ringside_precompiled)
    file(WRITE ${PROJECT_BINARY_DIR}/generated/precompiled.cc "")
    add_library(ringside_precompiled OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled.cc)
    set_target_properties(ringside_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(ringside_precompiled PRIVATE ringside_options fmt::fmt nlohmann_json::nlohmann_json)
    target_compile_options(ringside_precompiled PRIVATE -pthread)
    target_precompile_headers(ringside_precompiled PRIVATE
      <algorithm> <chrono> <filesystem> <fmt/format.h> <functional> <map> <memory> <nlohmann/json.hpp> <string> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ringside_precompiled)
endfunction()
