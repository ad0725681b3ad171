# GoogleTest's headers, precompiled once, as executables are compiled.
function(ringside_precompile_test target)
  if(NOT TARGET ringside_precompiled_test)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/precompiled_test.cc "")
    add_library(ringside_precompiled_test STATIC ${CMAKE_BINARY_DIR}/generated/precompiled_test.cc)
    set_target_properties(ringside_precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(ringside_precompiled_test PRIVATE -fPIE -pthread $<$<CONFIG:Release>:-O1>)
    target_link_libraries(ringside_precompiled_test PRIVATE ringside_options GTest::gmock nlohmann_json::nlohmann_json)
    target_precompile_headers(ringside_precompiled_test PRIVATE
      <algorithm> <chrono> <gmock/gmock.h> <gtest/gtest.h> <memory> <nlohmann/json.hpp> <string> <vector>)
  endif()
  target_compile_options(${target} PRIVATE -pthread)
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} REUSE_FROM ringside_precompiled_test)
endfunction()

# ringside_test(NAME SOURCES... LIBRARIES... [NOT_PRECOMPILED]): one GoogleTest executable, its cases discovered by CTest.
# NOT_PRECOMPILED: what it links brings definitions that precompiled headers do not know (libtorch does).
function(ringside_test name)
  cmake_parse_arguments(arg "NOT_PRECOMPILED" "TIMEOUT;ENVIRONMENT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ringside_options ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  # What is tested is optimised; the tests themselves need to compile fast. Not under sanitizers: the
  # suppressions for gRPC's headers count on the inlining of one optimisation level.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(NOT arg_NOT_PRECOMPILED)
    ringside_precompile_test(${name})
  endif()
  if(RINGSIDE_SANITIZE STREQUAL "thread") # several times as slow
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
  foreach(source ${arg_SOURCES})
    get_filename_component(path ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY RINGSIDE_REGISTERED ${path})
  endforeach()
endfunction()

# Tests that this configuration lacks something for: known, and not built.
function(ringside_leave_out)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY RINGSIDE_REGISTERED ${path})
  endforeach()
endfunction()

# Fails the configure step when a *_test.cc under `folder` belongs to no test.
function(ringside_check_tests_registered folder)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*_test.cc)
  get_property(registered GLOBAL PROPERTY RINGSIDE_REGISTERED)
  foreach(path ${found})
    if(NOT path IN_LIST registered)
      message(FATAL_ERROR "${path} is in no ringside_test(): register it or delete it")
    endif()
  endforeach()
endfunction()
