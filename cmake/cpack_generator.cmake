# CPack reads this once per generator. The .tar.gz has its own copies of Debian's libraries and nothing that needs libtorch.
# The .deb has all the rest and uses Debian's libraries.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_INSTALL_CMAKE_PROJECTS "")
  foreach(component runtime development bundled)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_RINGSIDE_BINARY_DIR};ringside;${component};/")
  endforeach()
endif()
