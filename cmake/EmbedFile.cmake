# Run as a script: turns a binary file into a C++ source file that defines a function returning its bytes.
# cmake -DINPUT=file -DOUTPUT=file.cc -DHEADER=path/of/declaration.h -DFUNCTION=Name -P EmbedFile.cmake
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT}
  "#include \"${HEADER}\"\n\nnamespace ringside {\nnamespace {\n\n"
  "constexpr std::uint8_t kBytes[] = {${bytes}};\n\n}  // namespace\n\n"
  "std::span<const std::uint8_t> ${FUNCTION}() { return kBytes; }\n\n}  // namespace ringside\n")
