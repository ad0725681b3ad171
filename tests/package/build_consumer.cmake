# cmake -DCONSUMER=tests/consumer -DOUT=dir [-DPREFIX=installation | -DSOURCE=sources] [-DPKG_CONFIG=pkg-config] [-DHEADERS=...]
#       -P build_consumer.cmake
# Builds and runs the consumer; fails unless it prints what it should.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${PREFIX}/lib/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ringside-ring
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  set(program ${OUT}/ring_sum)
  execute_process(COMMAND ${CXX} -std=c++20 ${CONSUMER}/ring_sum.cc -o ${program} ${flags} COMMAND_ERROR_IS_FATAL ANY)
else()
  set(arguments -G Ninja -DCMAKE_BUILD_TYPE=)
  if(SOURCE)
    # Of these a program that sums in rings needs none.
    foreach(package Protobuf gRPC Boost yaml-cpp nlohmann_json SQLite3 Torch MPI CUDAToolkit GTest benchmark)
      list(APPEND arguments -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
    endforeach()
    list(APPEND arguments -DRINGSIDE_SOURCE=${SOURCE} -DRINGSIDE_ESBUILD=RINGSIDE_ESBUILD-NOTFOUND
      -DRINGSIDE_PLOTLY_JS=RINGSIDE_PLOTLY_JS-NOTFOUND)
  else()
    list(APPEND arguments -DCMAKE_PREFIX_PATH=${PREFIX})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER} -B ${OUT}/build ${arguments} "-DRINGSIDE_HEADERS_ALONE=${HEADERS}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUT}/build COMMAND_ERROR_IS_FATAL ANY)
  set(program ${OUT}/build/ring_sum)
endif()

execute_process(COMMAND ${program} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${output}")
if(NOT output MATCHES "sum=3\n")
  message(FATAL_ERROR "the sum of the two ranks is not 3")
endif()
if(PREFIX AND NOT PKG_CONFIG)
  set(own ${OUT}/build/own_ringside)
  include(${CMAKE_CURRENT_LIST_DIR}/run_own_program.cmake)
endif()
if(MPI AND NOT output MATCHES "mpi=found\n")
  message(FATAL_ERROR "the installed backend for MPI was not found by a program elsewhere")
endif()
