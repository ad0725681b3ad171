# Packages, all from Debian 12 unless CMAKE_PREFIX_PATH says otherwise.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(Gloo REQUIRED)
find_package(Boost REQUIRED COMPONENTS program_options)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 3.37 REQUIRED)  # STRICT tables

# What the HTML report is made of. Debian's plotly.js is not minified; any plotly.js from 2.6 on will do.
find_program(RINGSIDE_ESBUILD esbuild)
find_file(RINGSIDE_PLOTLY_JS NAMES plotly.min.js plotly.js PATHS /usr/share/python3-plotly NO_DEFAULT_PATH
  DOC "plotly.js, minified or not, to be inlined in reports")
foreach(need RINGSIDE_ESBUILD RINGSIDE_PLOTLY_JS)
  if(NOT ${need})
    message(FATAL_ERROR "${need} is not found: run scripts/install-dependencies.sh (Debian's packages esbuild and "
                        "python3-plotly), or set -D${need}=FILE")
  endif()
endforeach()

# Backends that a build may lack: their strategies are then listed as unavailable.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS CXX QUIET)
set(RINGSIDE_MPI_VERSION "")
if(MPI_CXX_FOUND)
  file(STRINGS ${MPI_CXX_HEADER_DIR}/mpi.h mpi_version REGEX "#define OMPI_(MAJOR|MINOR|RELEASE)_VERSION")
  string(REGEX REPLACE "[^0-9]+" "." mpi_version "${mpi_version}")
  string(REGEX REPLACE "^\\.|\\.$" "" RINGSIDE_MPI_VERSION "${mpi_version}")
endif()

# The CUDA toolkit and NCCL: taken where they are, required by RINGSIDE_CUDA. Nothing that starts
# without them links them.
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
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+" "." nccl_version "${nccl_version}")
  string(REGEX REPLACE "^\\.|\\.$" "" RINGSIDE_NCCL_VERSION "${nccl_version}")
  message(STATUS "CUDA toolkit ${RINGSIDE_CUDA_VERSION}, NCCL ${RINGSIDE_NCCL_VERSION}")
endif()

# Debian's Python, which has Debian's packages: what tests compare statistics with.
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

# C++ for a .proto file, with its gRPC service when it has one: ringside_protobuf(TARGET file.proto)
function(ringside_protobuf target proto)
  get_filename_component(name ${proto} NAME_WE)
  get_filename_component(path ${proto} ABSOLUTE)
  file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${path})
  get_filename_component(folder ${relative} DIRECTORY)
  set(out ${CMAKE_BINARY_DIR}/generated/${folder}/${name})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${out}.pb.cc ${out}.pb.h ${out}.grpc.pb.cc ${out}.grpc.pb.h
    COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${CMAKE_BINARY_DIR}/generated
            --grpc_out=${CMAKE_BINARY_DIR}/generated
            --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${relative}
    DEPENDS ${path}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    VERBATIM)
  add_library(${target} STATIC ${out}.pb.cc ${out}.grpc.pb.cc)
  target_include_directories(${target} SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${target} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
