# Run as a script: writes the source file of BackendVersion() (ring/backends/backend_library.h).
# cmake -DSOURCE_DIR=... -DVERSION=0.2.0 -DOUT=file.cc -P backend_version.cmake
file(GLOB headers RELATIVE ${SOURCE_DIR}
  ${SOURCE_DIR}/common/*/*.h ${SOURCE_DIR}/ring/core/*.h ${SOURCE_DIR}/ring/backends/*.h)
list(SORT headers)
set(hashes "")
foreach(header ${headers})
  file(SHA256 ${SOURCE_DIR}/${header} hash)
  string(APPEND hashes "${hash} ${header}\n")
endforeach()
string(SHA256 interface "${hashes}")
string(SUBSTRING ${interface} 0 12 interface)
file(WRITE ${OUT} "#include \"ringside/ring/backends/backend_library.h\"

namespace ringside {

const char* BackendVersion() { return \"${VERSION}, interface ${interface}\"; }

}  // namespace ringside
")
