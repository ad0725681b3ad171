# Makes libraries from the tree: one target per folder, one archive per component.
#
# Sources include headers as "ringside/<path from the top>", as a program that uses the installed package does.
# In the build tree that path is a link to the sources; an installation has copies.
set(RINGSIDE_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
# Where backends are installed, relative to the prefix.
set(RINGSIDE_BACKEND_DIR ${CMAKE_INSTALL_LIBDIR}/ringside)
file(MAKE_DIRECTORY ${RINGSIDE_INCLUDE_DIR}/ringside)
foreach(top common ring paramserver models experiments benchmarks)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${top} ${RINGSIDE_INCLUDE_DIR}/ringside/${top} SYMBOLIC)
endforeach()

# The component of a folder: ringside_component_of(VARIABLE path/from/top)
function(ringside_component_of variable path)
  set(component app)
  if(path MATCHES "^common(/|$)")
    set(component core)
  elseif(path MATCHES "^models/torch(/|$)")
    set(component torch_models)
  elseif(path MATCHES "^(ring|paramserver|models)(/|$)")
    set(component ${CMAKE_MATCH_1})
  endif()
  set(${variable} ${component} PARENT_SCOPE)
endfunction()

# Fails unless each source lies in the current folder or is made in its build directory: no folder compiles another's sources.
function(ringside_check_sources)
  foreach(source ${ARGN})
    string(FIND "${source}" "${CMAKE_CURRENT_BINARY_DIR}/" made)
    if(NOT made EQUAL 0 AND source MATCHES "/")
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt names the source ${source}, which is not of this folder: "
                          "give the folder of that source a ringside_folder() and depend on it")
    endif()
  endforeach()
endfunction()

# The target of the current folder: ringside_folder(SOURCES... [PROTOBUF file] [DEPENDS folders...] [LIBRARIES...] [PRECOMPILED])
#   SOURCES    source files of this folder only
#   PROTOBUF   this folder's .proto file; folders that depend on this one may include the generated header
#   DEPENDS    folders whose headers it includes, as paths from the top; tests/layering/layering_test.cc checks them
#   LIBRARIES  packages whose headers its sources include
# The target of ring/shm is called ringside_ring_shm. Its objects go into the archive of its component.
function(ringside_folder)
  cmake_parse_arguments(arg "PRECOMPILED" "PROTOBUF" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" name ringside_${path})
  ringside_check_sources(${arg_SOURCES} ${arg_PROTOBUF})
  if(arg_SOURCES)
    add_library(${name} OBJECT ${arg_SOURCES})
    set(visibility PUBLIC)
    target_link_libraries(${name} PRIVATE ringside_options ${arg_LIBRARIES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(arg_PRECOMPILED)
      ringside_precompile(${name})
    endif()
    ringside_component_of(component ${path})
    if(arg_PROTOBUF)
      ringside_protobuf(${name}_proto ${arg_PROTOBUF})
      target_link_libraries(${name} PUBLIC ${name}_proto)
      set_property(GLOBAL APPEND PROPERTY RINGSIDE_OBJECTS_${component} ${name}_proto)
    endif()
    set_property(GLOBAL APPEND PROPERTY RINGSIDE_OBJECTS_${component} ${name})
  else()
    add_library(${name} INTERFACE)
    set(visibility INTERFACE)
  endif()
  foreach(folder ${arg_DEPENDS})
    string(REPLACE "/" "_" target ringside_${folder})
    target_link_libraries(${name} ${visibility} ${target})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_FOLDERS ${path})
endfunction()

# A folder whose sources make programs or a library that is loaded: ringside_declare_folder([DEPENDS folders...])
function(ringside_declare_folder)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_FOLDERS ${path})
  set_property(GLOBAL PROPERTY RINGSIDE_DEPENDS_${path} "${arg_DEPENDS}")
endfunction()

# A backend that is loaded when it is first asked for (common/base/shared_backend.h): its own shared library, which exports one function.
# ringside_backend(NAME SOURCES... COMPONENT name [DEPENDS folders...] [LIBRARIES...])
#   COMPONENT  the archive that it links
function(ringside_backend name)
  cmake_parse_arguments(arg "" "COMPONENT" "SOURCES;LIBRARIES;DEPENDS" ${ARGN})
  ringside_check_sources(${arg_SOURCES})
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${RINGSIDE_BACKEND_DIR}
    INSTALL_RPATH "$ORIGIN"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  ringside_keep_rpath(${name})
  target_link_libraries(${name} PRIVATE ringside_options ringside_${arg_COMPONENT} fmt::fmt ${arg_LIBRARIES})
  # RUNPATH, also in builds with a sanitizer, because LD_LIBRARY_PATH must be able to replace what a backend links.
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL LINKER:--enable-new-dtags)
  # Not linked: whoever builds an executable gets the backends that it may load.
  add_dependencies(ringside_backends ${name})
  ringside_declare_folder(DEPENDS ${arg_DEPENDS})
endfunction()
add_custom_target(ringside_backends)

# Folders that this configuration does not build: ringside_leave_out_folder(paths/from/top...)
function(ringside_leave_out_folder)
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_FOLDERS_LEFT_OUT ${ARGN})
endfunction()

# The archive of a component: ringside_component(NAME [DEPENDS components...] [LIBRARIES...])
#   LIBRARIES  libraries that programs must link besides the archive
function(ringside_component component)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBRARIES" ${ARGN})
  get_property(folders GLOBAL PROPERTY RINGSIDE_OBJECTS_${component})
  set(objects "")
  foreach(folder ${folders})
    list(APPEND objects $<TARGET_OBJECTS:${folder}>)
  endforeach()
  add_library(ringside_${component} STATIC ${objects})
  add_library(ringside::${component} ALIAS ringside_${component})
  set_target_properties(ringside_${component} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${component})
  target_compile_features(ringside_${component} PUBLIC cxx_std_20)
  target_include_directories(ringside_${component} PUBLIC
    $<BUILD_INTERFACE:${RINGSIDE_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM arg_DEPENDS PREPEND ringside_)
  target_link_libraries(ringside_${component} PUBLIC ${arg_DEPENDS} ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY RINGSIDE_COMPONENTS ${component})
endfunction()

# Gives a target of the build the RPATH of the installation, which also names the directories of packages that are not the system's. The
# build tree has the same folders as an installation, so it fits both. With two different paths, CMake would end the one of the build with
# an empty entry. The dynamic linker takes that for the current directory, and would look there first for every library.
function(ringside_keep_rpath target)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# An executable, built into one folder with all others: ringside_executable(NAME SOURCES... LIBRARIES...)
function(ringside_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ringside_options ${arg_LIBRARIES})
  # Where executables look for the libraries of backends (ring/backends/backend_library.h) and for bundled copies.
  file(RELATIVE_PATH backends /${CMAKE_INSTALL_BINDIR} /${RINGSIDE_BACKEND_DIR})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH "$ORIGIN/${backends}")
  ringside_keep_rpath(${name})
  # RPATH, because RUNPATH does not apply to libraries that a library loads.
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
endfunction()

# The libraries that a target links in the end: ringside_links_of(VARIABLE target)
function(ringside_links_of variable target)
  set(links "")
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(found ${target} ${property})
    if(found)
      list(APPEND links ${found})
    endif()
  endforeach()
  list(TRANSFORM links REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
  list(REMOVE_DUPLICATES links)
  list(FILTER links EXCLUDE REGEX "^::@|^ringside_options$|^${target}_proto$")
  set(${variable} "${links}" PARENT_SCOPE)
endfunction()

# Who depends on whom, for tests/layering/layering_test.cc. A line each:
#   folder PATH : folders that its target links or that it declares : packages that it links : folders that made sources include
#   component NAME : what its archive links
#   left-out PATH
function(ringside_write_folders file)
  set(text "")
  get_property(folders GLOBAL PROPERTY RINGSIDE_FOLDERS)
  foreach(path ${folders})
    string(REPLACE "/" "_" target ringside_${path})
    set(target_${target} ${path})
  endforeach()
  foreach(path ${folders})
    get_property(depends GLOBAL PROPERTY RINGSIDE_DEPENDS_${path})
    get_property(made GLOBAL PROPERTY RINGSIDE_MADE_INCLUDES_${path})
    set(packages "")
    string(REPLACE "/" "_" target ringside_${path})
    if(TARGET ${target})
      ringside_links_of(links ${target})
      foreach(link ${links})
        if(DEFINED target_${link})
          list(APPEND depends ${target_${link}})
        else()
          list(APPEND packages ${link})
        endif()
      endforeach()
    endif()
    list(REMOVE_DUPLICATES made)
    list(JOIN depends " " depends)
    list(JOIN packages " " packages)
    list(JOIN made " " made)
    string(APPEND text "folder ${path} : ${depends} : ${packages} : ${made}\n")
  endforeach()
  get_property(components GLOBAL PROPERTY RINGSIDE_COMPONENTS)
  foreach(component ${components})
    ringside_links_of(links ringside_${component})
    list(JOIN links " " links)
    string(APPEND text "component ${component} : ${links}\n")
  endforeach()
  get_property(left_out GLOBAL PROPERTY RINGSIDE_FOLDERS_LEFT_OUT)
  foreach(path ${left_out})
    string(APPEND text "left-out ${path}\n")
  endforeach()
  file(GENERATE OUTPUT ${file} CONTENT "${text}")
endfunction()

# Makes a source file that defines a function returning a file's bytes:
# ringside_embed(VARIABLE file header/of/the/declaration.h Function); the variable gets the source's path.
function(ringside_embed variable input header function)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${source} -DHEADER=${header} -DFUNCTION=${function} -P ${script}
    DEPENDS ${input} ${script}
    VERBATIM)
  set(${variable} ${source} PARENT_SCOPE)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_filename_component(folder ${header} DIRECTORY)
  string(REGEX REPLACE "^ringside/" "" folder ${folder})
  if(NOT folder STREQUAL path)
    set_property(GLOBAL APPEND PROPERTY RINGSIDE_MADE_INCLUDES_${path} ${folder})
  endif()
endfunction()
