// One array in NumPy's format, and an archive of arrays.
#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ringside/models/data/npy_array.h"
#include "ringside/models/data/npz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

std::string Npy(const std::string& type, const std::string& shape, const std::string& bytes) {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + bytes;
}

std::string Archive(const std::vector<std::pair<std::string, std::string>>& arrays) {
  static const ScratchDirectory scratch;
  const std::string path = scratch.Path("seed");
  int error = 0;
  zip_t* zip = ::zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (zip == nullptr) throw InternalError("a seed cannot be made");
  for (const auto& [name, bytes] : arrays) {
    zip_source_t* source = ::zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    if (::zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8) < 0) {
      throw InternalError("a seed cannot be made");
    }
  }
  if (::zip_close(zip) != 0) throw InternalError("a seed cannot be made");
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ReadAll(const Dataset& dataset) {
  const std::size_t elements = dataset.shape().elements();
  std::vector<float> floats(dataset.integer_inputs() ? 0 : elements);
  std::vector<std::int64_t> integers(dataset.integer_inputs() ? elements : 0);
  std::vector<float> targets(dataset.targets());
  for (const Split split : {Split::kTrain, Split::kTest}) {
    for (std::size_t i = 0; i < dataset.size(split); ++i) {
      const std::int64_t label = dataset.Read(split, i, floats);
      if (label < 0 || label >= dataset.classes()) throw InternalError("a class that is none");
      if (!integers.empty()) dataset.ReadIntegers(split, i, integers);
      if (!targets.empty()) dataset.ReadTargets(split, i, targets);
    }
  }
}

}  // namespace

// An array as a chunk, then an archive.
std::vector<std::string> FuzzSeeds() {
  const std::string floats = Npy("<f4", "(2, 3)", std::string(24, '\1'));
  const std::string classes = Npy("|u1", "(2,)", std::string("\0\1", 2));
  const std::string integers = Npy("<i8", "(2, 1)", std::string(16, '\0'));
  return {Chunk(floats) + Archive({{"x_train.npy", floats}, {"y_train.npy", classes}}),
          Chunk(classes) + Archive({{"x_train.npy", integers},
                                    {"y_train.npy", floats},
                                    {"x_test.npy", integers},
                                    {"y_test.npy", floats}})};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const ScratchDirectory scratch;
  FuzzInput input(data, size);
  const std::string array(input.NextChunk());
  DropRefusals([&] {
    const NpyArray parsed = ParseNpy(array);
    for (std::size_t i = 0; i < parsed.elements(); ++i) static_cast<void>(parsed.At(i));
  });
  scratch.Write("arrays", input.Rest());
  DropRefusals([&] { ReadAll(*MakeNpz(scratch.Path("arrays"))); });
  return 0;
}
