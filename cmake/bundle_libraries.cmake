# Runs while the .tar.gz is made: copies the shared libraries that an executable loads, and their packages' licences.
# Needs executable, destination, licenses. What belongs to glibc and GCC stays the system's: a program built against an older
# one runs with a newer one, but the system's own libraries may not run with our older one (docs/decisions/0014-*.md).
cmake_policy(VERSION 3.25)
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${executable}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc[+][+])[.]so")
if(missing)
  message(FATAL_ERROR "${executable} needs libraries that are not found: ${missing}")
endif()
find_program(dpkg_query dpkg-query)
foreach(library ${libraries})
  file(INSTALL DESTINATION ${destination} TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES ${library})
  if(dpkg_query)
    # Debian's own database knows a library by the path without /usr or with it.
    file(REAL_PATH ${library} real)
    string(REGEX REPLACE "^/usr" "" short ${real})
    execute_process(COMMAND ${dpkg_query} -S ${real} ${short} OUTPUT_VARIABLE owners ERROR_QUIET)
    if(owners MATCHES "^([^:]+):")
      set(package ${CMAKE_MATCH_1})
      if(EXISTS /usr/share/doc/${package}/copyright)
        file(INSTALL DESTINATION ${licenses} TYPE FILE FILES /usr/share/doc/${package}/copyright RENAME ${package})
      endif()
    endif()
  endif()
endforeach()
