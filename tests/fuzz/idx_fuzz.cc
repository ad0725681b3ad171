// A pair of IDX files, in which MNIST and Fashion-MNIST come. The images are smaller than theirs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ringside/models/data/idx.h"
#include "ringside/models/data/image_dataset.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

constexpr std::uint32_t kRows = 2;
constexpr std::uint32_t kColumns = 3;
constexpr int kClasses = 10;
constexpr std::array kNorms{ChannelNorm{}};

std::string BigEndian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

void ReadAll(const Dataset& dataset) {
  std::vector<float> sample(dataset.shape().elements());
  for (std::size_t i = 0; i < dataset.size(Split::kTrain); ++i) {
    const std::int64_t label = dataset.Read(Split::kTrain, i, sample);
    if (label < 0 || label >= kClasses) throw InternalError("a label that is none");
  }
}

}  // namespace

// The labels' file as a chunk, then the images' file.
std::vector<std::string> FuzzSeeds() {
  const std::string labels = BigEndian(0x801) + BigEndian(2) + std::string{'\3', '\11'};
  const std::string images =
      BigEndian(0x803) + BigEndian(2) + BigEndian(kRows) + BigEndian(kColumns);
  return {Chunk(labels) + images + std::string(std::size_t{2} * kRows * kColumns, '\x7f')};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const ScratchDirectory scratch;
  FuzzInput input(data, size);
  scratch.Write("labels", input.NextChunk());
  scratch.Write("images", input.Rest());
  DropRefusals([&] {
    ImageSplit split = ReadIdxPair(scratch.Path("images"), scratch.Path("labels"),
                                   {.rows = kRows, .columns = kColumns, .classes = kClasses});
    ImageSplit nothing;
    ReadAll(
        ImageDataset({1, kRows, kColumns}, kClasses, kNorms, std::move(split), std::move(nothing)));
  });
  return 0;
}
