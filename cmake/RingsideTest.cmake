# Precompiles GoogleTest's headers once, with the options of executables.
function(ringside_precompile_test target)
  if(NOT TARGET ringside_precompiled_test)
    file(WRITE ${PROJECT_BINARY_DIR}/generated/precompiled_test.cc "")
    add_library(ringside_precompiled_test OBJECT ${PROJECT_BINARY_DIR}/generated/precompiled_test.cc)
    target_include_directories(ringside_precompiled_test PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(ringside_precompiled_test PRIVATE -pthread $<$<CONFIG:Release>:-O1>)
    target_compile_definitions(ringside_precompiled_test PRIVATE _GLIBCXX_ASSERTIONS)
    target_link_libraries(ringside_precompiled_test PRIVATE ringside_options GTest::gmock nlohmann_json::nlohmann_json)
    target_precompile_headers(ringside_precompiled_test PRIVATE
      <algorithm> <chrono> <gmock/gmock.h> <gtest/gtest.h> <memory> <nlohmann/json.hpp> <string> <vector>)
  endif()
  target_compile_options(${target} PRIVATE -pthread)
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} REUSE_FROM ringside_precompiled_test)
endfunction()

# Sets `result` to the TIMEOUT of a test that ends within so many seconds where nothing slows it down.
function(ringside_time_limit result seconds)
  if(RINGSIDE_SANITIZE STREQUAL "thread") # several times as slow
    math(EXPR seconds "3 * ${seconds}")
  endif()
  set(${result} ${seconds} PARENT_SCOPE)
endfunction()

# One GoogleTest executable, its cases discovered by CTest:
# ringside_test(NAME SOURCES... LIBRARIES... [LABELS...] [TIMEOUT s] [ENVIRONMENT VAR=value] [ALONE] [NOT_PRECOMPILED])
#   LABELS           processes: starts real processes with deadlines. e2e: a whole tour. Either takes two of the four slots
#                    that the presets of CTest have (PROCESSORS 2), so that two run at a time. They wait more than they compute.
#   ALONE            measures, or kills and freezes processes within a deadline: nothing runs beside it
#   NOT_PRECOMPILED  what it links brings definitions that precompiled headers do not know (libtorch does)
function(ringside_test name)
  cmake_parse_arguments(arg "ALONE;NOT_PRECOMPILED" "TIMEOUT;ENVIRONMENT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  ringside_executable(${name} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(${name} ringside_backends)
  # The tested code is optimised; the tests themselves must compile fast. Sanitizer builds are not changed,
  # because the suppressions for gRPC's headers depend on the inlining of one optimisation level.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # An empty std::optional that a test reads, or an index out of range, ends the test program.
  target_compile_definitions(${name} PRIVATE _GLIBCXX_ASSERTIONS)
  if(NOT arg_NOT_PRECOMPILED)
    ringside_precompile_test(${name})
  endif()
  ringside_time_limit(limit ${arg_TIMEOUT})
  set(properties TIMEOUT ${limit})
  foreach(property LABELS ENVIRONMENT)
    if(arg_${property})
      list(APPEND properties ${property} "${arg_${property}}")
    endif()
  endforeach()
  if(arg_LABELS)
    list(APPEND properties PROCESSORS 2)
  endif()
  if(arg_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  # Listing the cases of a program that loads libtorch takes its time on a busy machine.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES ${properties})
  foreach(source ${arg_SOURCES})
    get_filename_component(path ${source} ABSOLUTE)
    set_property(GLOBAL APPEND PROPERTY RINGSIDE_REGISTERED ${path})
  endforeach()
endfunction()

# Names tests that are not built, because this configuration lacks something that they need.
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
