# cmake -DPREFIX=unpacked -DOUT=dir -P run_program.cmake
# Trains with the unpacked program, and holds it to its own copies of libraries.
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
