# What `cmake --install` and `cpack` do with the libraries and programs.
#
#   bin/                    ringside, ringside-worker
#   lib/                    an archive a component: libringside_core.a, ...
#   lib/ringside/           backends that are loaded when they are asked for, and nccl-peer (benchmarks/CMakeLists.txt); in the .tar.gz
#                           also copies of Debian's libraries
#   lib/cmake/ringside/     find_package(ringside COMPONENTS core ring ...)
#   lib/pkgconfig/          ringside-core.pc, ringside-ring.pc, ...
#   include/ringside/       every header that does not say that it is private
#   share/ringside/specs/   example specs
#   share/ringside/gpu-check/  the check of a machine with GPUs
#
# Components of the installation: runtime, development, torch (whatever needs libtorch), and bundled (the copies), which is
# installed for the .tar.gz alone.
include(CMakePackageConfigHelpers)

set(RINGSIDE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ringside)

# The component of the installation that a component's archive and headers belong to.
function(ringside_install_component variable component)
  set(${variable} development PARENT_SCOPE)
  if(component STREQUAL torch_models)
    set(${variable} torch PARENT_SCOPE)
  endif()
endfunction()

# ringside-NAME.pc of a component: ringside_pkg_config(component [REQUIRES modules...] [LIBRARIES flags...])
function(ringside_pkg_config component)
  cmake_parse_arguments(arg "" "" "REQUIRES;LIBRARIES" ${ARGN})
  if(NOT TARGET ringside_${component})
    return()
  endif()
  list(JOIN arg_REQUIRES " " requires)
  list(JOIN arg_LIBRARIES " " libraries)
  set(file ${PROJECT_BINARY_DIR}/package/ringside-${component}.pc)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  file(WRITE ${file} "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ringside-${component}
Description: Parameter servers beside ring-allreduce, component ${component}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lringside_${component} ${libraries}
")
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

get_property(components GLOBAL PROPERTY RINGSIDE_COMPONENTS)
foreach(component ${components})
  ringside_install_component(part ${component})
  install(TARGETS ringside_${component} EXPORT ringside-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part})
  install(EXPORT ringside-${component} NAMESPACE ringside:: DESTINATION ${RINGSIDE_CMAKE_DIR} COMPONENT ${part})
endforeach()

# The archives are static, so a program that links one also links everything that it needs.
ringside_pkg_config(core REQUIRES libcrypto LIBRARIES -pthread)
ringside_pkg_config(ring REQUIRES ringside-core fmt
  LIBRARIES -Wl,-rpath,\${libdir}/ringside -lgloo -ldl)
ringside_pkg_config(paramserver REQUIRES ringside-core grpc++ protobuf libssl)
ringside_pkg_config(models REQUIRES ringside-core libzip)
ringside_pkg_config(app REQUIRES ringside-ring ringside-paramserver ringside-models sqlite3 yaml-cpp nlohmann_json fmt
  LIBRARIES -lboost_program_options)

# Read during the installation, because the headers themselves say which of them are private.
foreach(part development torch)
  install(CODE "
    set(part ${part})
    set(source \"${PROJECT_SOURCE_DIR}\")
    set(components \"${components}\")
    set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/ringside\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake\")
  " COMPONENT ${part})
endforeach()

configure_package_config_file(cmake/ringside-config.cmake.in ${PROJECT_BINARY_DIR}/package/ringside-config.cmake
  INSTALL_DESTINATION ${RINGSIDE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/ringside-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/ringside-config.cmake ${PROJECT_BINARY_DIR}/package/ringside-config-version.cmake
  DESTINATION ${RINGSIDE_CMAKE_DIR} COMPONENT development)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

foreach(backend ringside_mpi ringside_loopback ringside_nccl ringside_cuda ringside_cuda_math)
  if(TARGET ${backend})
    install(TARGETS ${backend} LIBRARY DESTINATION ${RINGSIDE_BACKEND_DIR} COMPONENT runtime)
  endif()
endforeach()

if(NOT RINGSIDE_APP)
  return()
endif()
install(TARGETS ringside RUNTIME COMPONENT runtime)
if(TARGET ringside-worker)
  install(TARGETS ringside-worker RUNTIME COMPONENT torch)
endif()
install(DIRECTORY experiments/specs DESTINATION ${CMAKE_INSTALL_DATADIR}/ringside COMPONENT runtime)
set(gpu_check ${CMAKE_INSTALL_DATADIR}/ringside/gpu-check)
install(PROGRAMS scripts/gpu_check.sh scripts/gpu_check.py DESTINATION ${gpu_check} COMPONENT runtime)
install(DIRECTORY scripts/gpu_check_parts DESTINATION ${gpu_check} COMPONENT runtime
  PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)

# Copies of the libraries that `ringside` loads, except those that every system with a new enough glibc has. They find each
# other by the RPATH of the executable.
install(CODE "
  set(executable \"$<TARGET_FILE:ringside>\")
  set(destination \"\${CMAKE_INSTALL_PREFIX}/${RINGSIDE_BACKEND_DIR}\")
  set(licenses \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/bundled\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/bundle_libraries.cmake\")
" COMPONENT bundled EXCLUDE_FROM_ALL)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME ringside)
set(CPACK_PACKAGE_VENDOR "The Ringside authors")
set(CPACK_PACKAGE_CONTACT "The Ringside authors <ringside@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compares parameter servers with ring-allreduce in distributed training")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME ringside-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
# For each generator: which components.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/cpack_generator.cmake)
set(CPACK_RINGSIDE_BINARY_DIR ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "iproute2, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "cmake, libgloo-dev, libfmt-dev, libssl-dev, libgrpc++-dev, libprotobuf-dev, libboost-program-options-dev, libyaml-cpp-dev, nlohmann-json3-dev, libsqlite3-dev, libzip-dev, libtorch-dev")
find_program(RINGSIDE_SHLIBDEPS dpkg-shlibdeps)
if(RINGSIDE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
