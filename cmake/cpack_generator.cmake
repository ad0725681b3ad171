# Read by CPack once a generator. The .tar.gz brings its own copies of Debian's libraries and nothing that needs libtorch; the
# .deb has all of the rest and lets Debian bring the libraries.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_INSTALL_CMAKE_PROJECTS "")
  foreach(component runtime development bundled)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_RINGSIDE_BINARY_DIR};ringside;${component};/")
  endforeach()
endif()
