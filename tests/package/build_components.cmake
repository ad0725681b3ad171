# cmake -DPROGRAMS=tests/consumer/component -DOUT=dir -DPREFIX=installation -DCOMPONENTS=core,ring,... [-DPKG_CONFIG=pkg-config -DCXX=c++]
#       -P build_components.cmake
# Builds and runs a program for each component, which asks for that component alone.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})

string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")
foreach(component ${COMPONENTS})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROGRAMS} -B ${OUT}/${component} -G Ninja -DCMAKE_BUILD_TYPE=
      -DCMAKE_PREFIX_PATH=${PREFIX} -DRINGSIDE_COMPONENT=${component} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUT}/${component} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${OUT}/${component}/${component} COMMAND_ERROR_IS_FATAL ANY)
  if(PKG_CONFIG AND NOT component STREQUAL torch_models) # libtorch has no .pc file
    set(ENV{PKG_CONFIG_PATH} ${PREFIX}/lib/pkgconfig)
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ringside-${component}
      OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags)
    set(program ${OUT}/${component}/by_pkg_config)
    execute_process(COMMAND ${CXX} -std=c++20 ${PROGRAMS}/${component}.cc -o ${program} ${flags} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${program} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
