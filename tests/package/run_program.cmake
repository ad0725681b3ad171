# cmake -DPREFIX=unpacked -DOUT=dir -P run_program.cmake
# Trains with the unpacked program and starts its check of GPUs. Holds it to its own copies of libraries, and to the versions of glibc and
# GCC's runtime that docs/decisions/0014-the-archive-leaves-the-cpp-runtime-to-the-system.md promises.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
foreach(strategy ring ps-sync)
  execute_process(
    COMMAND ${PREFIX}/bin/ringside train --model profile:resnet50 --compute-ms 5 --steps 3 --strategy ${strategy} --workers 2
    WORKING_DIRECTORY ${OUT} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ldd ${PREFIX}/bin/ringside OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ => [^\n]+" lines "${loaded}")
foreach(line ${lines})
  string(STRIP "${line}" line)
  if(NOT line MATCHES " => ${PREFIX}/" AND NOT line MATCHES "^lib(c|m|gcc_s|stdc[+][+])[.]so")
    message(FATAL_ERROR "loaded from outside the package: ${line}")
  endif()
endforeach()

# The check of a machine with GPUs begins, and finds none.
file(WRITE ${OUT}/driver/nvidia-smi "#!/bin/sh\n")
file(CHMOD ${OUT}/driver/nvidia-smi PERMISSIONS OWNER_READ OWNER_EXECUTE)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PATH=${OUT}/driver:$ENV{PATH} ${PREFIX}/share/ringside/gpu-check/gpu_check.sh
  WORKING_DIRECTORY ${OUT} RESULT_VARIABLE code ERROR_VARIABLE message)
if(NOT code EQUAL 4 OR NOT message MATCHES "no GPU is found here" OR EXISTS ${OUT}/gpu-check)
  message(FATAL_ERROR "gpu_check.sh without a GPU: exit code ${code}, ${message}")
endif()

set(newest_GLIBC 2.36)
set(newest_GLIBCXX 3.4.30)
set(newest_CXXABI 1.3.13)
set(newest_GCC 12.0.0)
file(GLOB libraries ${PREFIX}/lib/ringside/*.so*)
foreach(file ${PREFIX}/bin/ringside ${libraries})
  file(STRINGS ${file} needs REGEX "^(GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+$")
  foreach(need ${needs})
    string(REGEX MATCH "^([A-Z]+)_(.*)$" need ${need})
    if(CMAKE_MATCH_2 VERSION_GREATER newest_${CMAKE_MATCH_1})
      message(FATAL_ERROR "${file} needs ${need}, which is newer than ${newest_${CMAKE_MATCH_1}}")
    endif()
  endforeach()
endforeach()
