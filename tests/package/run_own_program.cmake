# Included with `own`, a program with entries of its own, `CONSUMER` and `OUT`: the program lists them, verifies them, runs
# them in a matrix, and its report takes them for what they are.
function(own_ringside variable)
  execute_process(COMMAND ${own} ${ARGN} WORKING_DIRECTORY ${OUT} OUTPUT_VARIABLE output ERROR_VARIABLE error
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "own_ringside ${ARGN} exited with ${code}:\n${output}${error}")
  endif()
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

own_ringside(list list --json)
foreach(name own-strategy own-collective own-model own-data)
  if(NOT list MATCHES "\"name\": \"${name}\"")
    message(FATAL_ERROR "own_ringside list does not name ${name}:\n${list}")
  endif()
endforeach()

own_ringside(verified verify --quiet --json --repeat none --optimizers sgd --model own-model --data own-data --workers 2
  --steps 10 --global-batch 16 --strategies own-strategy,own-collective)
string(JSON ok GET "${verified}" ok)
if(NOT ok)
  message(FATAL_ERROR "verify: ${verified}")
endif()

own_ringside(done matrix ${CONSUMER}/own_matrix.yaml --out ${OUT}/results --force)
own_ringside(report report ${OUT}/results/own --json)
string(JSON cells LENGTH "${report}" cells)
set(seen "")
math(EXPR last "${cells} - 1")
foreach(index RANGE ${last})
  string(JSON strategy GET "${report}" cells ${index} strategy)
  string(JSON family GET "${report}" cells ${index} family)
  list(APPEND seen "${strategy}=${family}")
endforeach()
list(SORT seen)
if(NOT seen STREQUAL "own-collective=ring;own-strategy=ring;ps-sync=parameter server;ring=ring")
  message(FATAL_ERROR "the report takes strategies for something else: ${seen}")
endif()
