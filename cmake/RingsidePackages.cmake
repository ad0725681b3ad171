# Packages, all from Debian 12 unless CMAKE_PREFIX_PATH says otherwise.
# A program that links our archives from another directory links these too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)
find_package(Gloo REQUIRED)
# Debian's libgloo-dev leaves out a header that other headers of Gloo include.
set(RINGSIDE_GLOO_HEADERS "")
find_file(RINGSIDE_GLOO_MEMORY_H gloo/common/memory.h)
if(NOT RINGSIDE_GLOO_MEMORY_H)
  set(RINGSIDE_GLOO_HEADERS ${PROJECT_BINARY_DIR}/gloo_headers)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/gloo_memory.h.in ${RINGSIDE_GLOO_HEADERS}/gloo/common/memory.h COPYONLY)
endif()
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
# Reads .npz files. Debian's CMake file of libzip-dev asks for programs of another package, so it is not used.
find_path(ZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(ZIP_LIBRARY zip REQUIRED)
set(RINGSIDE_LIBZIP zip)
if(RINGSIDE_PARAMSERVER)
  find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
endif()
if(RINGSIDE_APP)
  find_package(Boost REQUIRED COMPONENTS program_options)
  find_package(yaml-cpp REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(SQLite3 3.37 REQUIRED)  # STRICT tables
  find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # one header, which is all that is used
endif()

if(RINGSIDE_APP)
  # The HTML report needs esbuild and plotly.js 2.6 or later. Debian's plotly.js is not minified.
  find_program(RINGSIDE_ESBUILD esbuild)
  find_file(RINGSIDE_PLOTLY_JS NAMES plotly.min.js plotly.js PATHS /usr/share/python3-plotly NO_DEFAULT_PATH
    DOC "plotly.js, minified or not, to be inlined in reports")
  foreach(need RINGSIDE_ESBUILD RINGSIDE_PLOTLY_JS)
    if(NOT ${need})
      message(FATAL_ERROR "${need} is not found: run scripts/install-dependencies.sh (Debian's packages esbuild and "
                          "python3-plotly), or set -D${need}=FILE")
    endif()
  endforeach()
endif()

# Optional backends. Without one, its strategies are listed as unavailable.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS CXX QUIET)
set(RINGSIDE_MPI_VERSION "")
if(MPI_CXX_FOUND)
  file(STRINGS ${MPI_CXX_HEADER_DIR}/mpi.h mpi_version REGEX "#define OMPI_(MAJOR|MINOR|RELEASE)_VERSION")
  string(REGEX REPLACE "[^0-9]+" "." mpi_version "${mpi_version}")
  string(REGEX REPLACE "^\\.|\\.$" "" RINGSIDE_MPI_VERSION "${mpi_version}")
endif()

# The CUDA toolkit and NCCL are used when they are installed, and required with RINGSIDE_CUDA. Programs
# that must start without them do not link them.
set(RINGSIDE_CUDA_VERSION "")
set(RINGSIDE_NCCL_VERSION "")
if(RINGSIDE_CUDA)
  set(cuda_need REQUIRED)
else()
  set(cuda_need QUIET)
endif()
find_package(CUDAToolkit ${cuda_need})
if(CUDAToolkit_FOUND)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(RINGSIDE_CUDA AND NOT (NCCL_INCLUDE_DIR AND NCCL_LIBRARY))
    message(FATAL_ERROR "RINGSIDE_CUDA needs NCCL: its header or its library is not found")
  endif()
  set(RINGSIDE_CUDA_VERSION ${CUDAToolkit_VERSION})
endif()
# Models on a GPU need nvcc and cuBLAS, too. As a part of another project, Ringside enables no language that was not asked for.
set(RINGSIDE_CUDA_COMPILED OFF)
if(CUDAToolkit_FOUND AND TARGET CUDA::cublas AND (PROJECT_IS_TOP_LEVEL OR RINGSIDE_CUDA))
  if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(RINGSIDE_CUDA_COMPILED ON)
  elseif(RINGSIDE_CUDA)
    message(FATAL_ERROR "RINGSIDE_CUDA needs nvcc, which is not found or does not work")
  endif()
endif()
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+" "." nccl_version "${nccl_version}")
  string(REGEX REPLACE "^\\.|\\.$" "" RINGSIDE_NCCL_VERSION "${nccl_version}")
  message(STATUS "CUDA toolkit ${RINGSIDE_CUDA_VERSION}, NCCL ${RINGSIDE_NCCL_VERSION}")
endif()

if(RINGSIDE_TESTS)
  # Tests compare statistics with scipy in Debian's Python.
  find_program(RINGSIDE_PYTHON NAMES python3 HINTS /usr/bin)
  set(RINGSIDE_SCIPY OFF)
  if(RINGSIDE_PYTHON)
    execute_process(COMMAND ${RINGSIDE_PYTHON} -c "import scipy" RESULT_VARIABLE scipy_missing
      OUTPUT_QUIET ERROR_QUIET)
    if(scipy_missing EQUAL 0)
      set(RINGSIDE_SCIPY ON)
    endif()
  endif()
  if(NOT RINGSIDE_SCIPY)
    message(STATUS "no scipy (Debian: python3-scipy): the test that compares statistics with it is left out")
  endif()
endif()

# Generates C++ for a .proto file, and its gRPC service if it has one: ringside_protobuf(TARGET file.proto)
function(ringside_protobuf target proto)
  get_filename_component(name ${proto} NAME_WE)
  get_filename_component(path ${proto} ABSOLUTE)
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${path})
  get_filename_component(folder ${relative} DIRECTORY)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(out ${generated}/ringside/${folder}/${name})
  file(MAKE_DIRECTORY ${generated})
  # Includes use "ringside/folder/file.proto", as for every header.
  add_custom_command(
    OUTPUT ${out}.pb.cc ${out}.pb.h ${out}.grpc.pb.cc ${out}.grpc.pb.h
    COMMAND protobuf::protoc --proto_path=${RINGSIDE_INCLUDE_DIR} --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ringside/${relative}
    DEPENDS ${path}
    VERBATIM)
  add_library(${target} OBJECT ${out}.pb.cc ${out}.grpc.pb.cc)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
  target_link_libraries(${target} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
