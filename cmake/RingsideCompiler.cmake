# How our own code is compiled. Targets link `ringside_options` to get it; third-party code never does.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
# Where executables look for the libraries of backends (ring/backend_library.h).
set(CMAKE_BUILD_RPATH $ORIGIN)
set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/../lib/ringside)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(ringside_options INTERFACE)
target_include_directories(ringside_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(ringside_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor
  # One result on every machine: vectorised clones must not fuse multiplications and additions differently.
  -ffp-contract=off)
if(RINGSIDE_SANITIZE)
  add_compile_options(-fsanitize=${RINGSIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RINGSIDE_SANITIZE})
  # A sanitizer's dlopen stands between the executable and the linker, which then asks for RPATH alone.
  add_link_options(-Wl,--disable-new-dtags)
  # Vectorised clones are chosen by an ifunc, which runs before a sanitizer's runtime is ready.
  add_compile_definitions(RINGSIDE_NO_TARGET_CLONES)
endif()

# The headers that most files of experiments/ spend their compile time on: ringside_precompile(TARGET)
function(ringside_precompile target)
  target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(${target} PRIVATE -pthread)
  if(NOT TARGET ringside_precompiled)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/precompiled.cc "")
    add_library(ringside_precompiled STATIC ${CMAKE_BINARY_DIR}/generated/precompiled.cc)
    target_link_libraries(ringside_precompiled PRIVATE ringside_options fmt::fmt nlohmann_json::nlohmann_json)
    target_compile_options(ringside_precompiled PRIVATE -pthread)
    target_precompile_headers(ringside_precompiled PRIVATE
      <algorithm> <chrono> <filesystem> <fmt/format.h> <functional> <map> <memory> <nlohmann/json.hpp> <string> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ringside_precompiled)
endfunction()
