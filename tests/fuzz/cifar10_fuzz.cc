// The six batches of CIFAR-10, of one record each.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ringside/models/data/cifar10.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

constexpr std::size_t kTrainFiles = kCifarTrainFiles;
constexpr std::size_t kFiles = kTrainFiles + 1;
constexpr std::size_t kRecord = 1 + std::size_t{3} * 32 * 32;

std::string NameOf(std::size_t file) {
  return file < kTrainFiles ? "data_batch_" + std::to_string(file + 1) + ".bin"
                            : std::string("test_batch.bin");
}

}  // namespace

// Of each file the length that it has more or less than a record, as one byte, and the label; then
// the pixels of all of them.
std::vector<std::string> FuzzSeeds() {
  return {std::string(2 * kFiles, '\0') + "pixels", std::string(2 * kFiles, '\11'),
          std::string(2 * kFiles, '\xff')};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const ScratchDirectory scratch;
  FuzzInput input(data, size);
  std::vector<std::string> files(kFiles);
  for (std::string& file : files) {
    const auto longer = static_cast<std::int8_t>(input.Byte());
    file.resize(static_cast<std::size_t>(static_cast<std::int64_t>(kRecord) + longer));
    file.front() = static_cast<char>(input.Byte());
  }
  for (std::size_t i = 0; i < kFiles; ++i) {
    const std::string pixels = input.Bytes(files[i].size() - 1);
    files[i].replace(1, pixels.size(), pixels);
    scratch.Write(NameOf(i), files[i]);
  }
  DropRefusals([&] {
    const std::unique_ptr<Dataset> dataset = MakeCifar10(scratch.path(), 1);
    std::vector<float> sample(dataset->shape().elements());
    for (std::size_t i = 0; i < dataset->size(Split::kTrain); ++i) {
      dataset->Read(Split::kTrain, i, sample);
    }
    dataset->Read(Split::kTest, 0, sample);
  });
  return 0;
}
