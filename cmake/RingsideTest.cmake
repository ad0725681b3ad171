# ringside_test(NAME SOURCES... LIBRARIES...): one GoogleTest executable, its cases discovered by CTest.
function(ringside_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;ENVIRONMENT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ringside_options ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  # What is tested is optimised; the tests themselves need to compile fast. Not under sanitizers: the
  # suppressions for gRPC's headers count on the inlining of one optimisation level.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
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
