# Packages, all from Debian 12 unless CMAKE_PREFIX_PATH says otherwise.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(Gloo REQUIRED)
find_package(Boost REQUIRED COMPONENTS program_options)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

# Backends that a build may lack: their strategies are then listed as unavailable.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS CXX QUIET)

# No strategy of this version runs on a GPU: the toolkit is located, so that the preset fails where it is missing, and its
# versions go into `ringside --version` and `doctor`.
set(RINGSIDE_CUDA_VERSION "")
set(RINGSIDE_NCCL_VERSION "")
if(RINGSIDE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} REQUIRED)
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+" "." nccl_version "${nccl_version}")
  string(REGEX REPLACE "^\\.|\\.$" "" RINGSIDE_NCCL_VERSION "${nccl_version}")
  set(RINGSIDE_CUDA_VERSION ${CUDAToolkit_VERSION})
  message(STATUS "CUDA toolkit ${RINGSIDE_CUDA_VERSION}, NCCL ${RINGSIDE_NCCL_VERSION}")
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
