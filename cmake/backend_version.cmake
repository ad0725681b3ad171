# Run as a script: writes the source file of BackendVersion() (common/base/shared_backend.h).
# cmake -DSOURCE_DIR=... -DVERSION=0.2.0 -DOUT=file.cc -P backend_version.cmake
file(GLOB headers RELATIVE ${SOURCE_DIR}
  ${SOURCE_DIR}/common/*/*.h ${SOURCE_DIR}/ring/core/*.h ${SOURCE_DIR}/ring/backends/*.h
  ${SOURCE_DIR}/models/core/*.h ${SOURCE_DIR}/models/cuda/*.h ${SOURCE_DIR}/models/networks/*.h)
list(SORT headers)
set(hashes "")
foreach(header ${headers})
  file(SHA256 ${SOURCE_DIR}/${header} hash)
  string(APPEND hashes "${hash} ${header}\n")
endforeach()
string(SHA256 interface "${hashes}")
string(SUBSTRING ${interface} 0 12 interface)
file(WRITE ${OUT} "#include \"ringside/common/base/shared_backend.h\"

namespace ringside {

const char* BackendVersion() { return \"${VERSION}, interface ${interface}\"; }

}  // namespace ringside
")
