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
  # Vectorised clones are chosen by an ifunc, which runs before a sanitizer's runtime is ready.
  add_compile_definitions(RINGSIDE_NO_TARGET_CLONES)
endif()
