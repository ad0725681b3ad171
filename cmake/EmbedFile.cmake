# Run as a script: makes a C++ source file that defines a function returning a file's bytes.
# cmake -DINPUT=file -DOUTPUT=file.cc -DHEADER=path/of/declaration.h -DFUNCTION=Name -P EmbedFile.cmake
#
# The assembler reads the bytes, because the compiler takes a minute for an array of some megabytes in C++. The source
# contains their hash, because a compiler cache cannot see what the assembler reads.
file(SHA256 ${INPUT} hash)
set(begin ringside_embedded_${FUNCTION}_begin)
set(end ringside_embedded_${FUNCTION}_end)
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

// SHA-256 ${hash}
asm(\"/* ${hash} */\\n\"
    \".pushsection .rodata\\n\"
    \".balign 16\\n\"
    \".globl ${begin}\\n\"
    \".hidden ${begin}\\n\"
    \"${begin}:\\n\"
    \".incbin \\\"${INPUT}\\\"\\n\"
    \".globl ${end}\\n\"
    \".hidden ${end}\\n\"
    \"${end}:\\n\"
    \".byte 0\\n\"
    \".popsection\\n\");

extern \"C\" __attribute__((visibility(\"hidden\"))) const std::uint8_t ${begin}[];
extern \"C\" __attribute__((visibility(\"hidden\"))) const std::uint8_t ${end}[];

namespace ringside {

std::span<const std::uint8_t> ${FUNCTION}() { return {${begin}, ${end}}; }

}  // namespace ringside
")
