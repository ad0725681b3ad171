// Files of checkpoints, of the parts of workers, and of parameters. Every byte of them is under a
// checksum, so chance alone would never reach the code behind the checksums. An input may ask for a
// right checksum of its header.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/checkpoint/checkpoint.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/checkpoint/safetensors_export.h"
#include "ringside/experiments/system/files/sha256.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

enum Kind : std::uint8_t {
  kFile,        // the bytes of a checkpoint
  kSignedFile,  // its header as a chunk, and its values; length and checksum are added
  kPartFile,    // as kSignedFile, of the part of worker 0
  kParams,      // the bytes of a file of parameters
  kKinds,
};

constexpr std::string_view kDigestMark = "\"header_sha256\":\"";
constexpr std::size_t kDigits = 2 * kSha256Bytes;
constexpr std::size_t kAlignment = 8;

/// A file of this header, with the right length, and with the right checksum if the header has a
/// place for one.
std::string Signed(std::string header, const std::string& values) {
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const auto length = std::bit_cast<std::array<std::byte, 8>>(std::uint64_t{header.size()});
  const std::size_t mark = header.find(kDigestMark);
  if (mark != std::string::npos && mark + kDigestMark.size() + kDigits <= header.size()) {
    const std::size_t at = mark + kDigestMark.size();
    header.replace(at, kDigits, std::string(kDigits, '0'));
    const std::string text = TextOf(length) + header;
    header.replace(at, kDigits, Sha256Hex(std::as_bytes(std::span(text))));
  }
  return TextOf(length) + header + values;
}

/// The folder of checkpoints that inputs are written into. It has a whole checkpoint of step 42.
class Folder {
 public:
  Folder() : job_(checkpoint_.Write(scratch_.path())) {
    WriteParams(scratch_.Path("params.bin"), checkpoint_.params);
    job_content_ = ContentOf(job_);
    part_content_ = ContentOf(WorkerPartPath(job_, 0));
    params_content_ = ContentOf(scratch_.Path("params.bin"));
  }

  const std::string& job_content() const { return job_content_; }
  const std::string& part_content() const { return part_content_; }
  const std::string& params_content() const { return params_content_; }

  void ReadJob(const std::string& content) const {
    Overwrite(job_, content);
    Overwrite(WorkerPartPath(job_, 0), part_content_);
    ReadCheckpoint();
  }
  void ReadPart(const std::string& content) const {
    Overwrite(job_, job_content_);
    Overwrite(WorkerPartPath(job_, 0), content);
    ReadCheckpoint();
  }
  void ReadParameters(const std::string& content) const {
    scratch_.Write("params.bin", content);
    static_cast<void>(ReadParams(scratch_.Path("params.bin")));
  }

 private:
  static std::string ContentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// All that a resumed run and `ringside checkpoint` do with it, each by itself.
  void ReadCheckpoint() const {
    const CheckpointFile file(job_);
    DropRefusals([&] {
      file.CheckFits(checkpoint_.tensors, checkpoint_.buffers.size(), "adam",
                     checkpoint_.optimizer_state.size());
    });
    DropRefusals([&] { static_cast<void>(file.Load()); });
    DropRefusals([&] { static_cast<void>(file.LoadPart(0)); });
    DropRefusals([&] { file.CheckAll(); });
    DropRefusals([&] { ExportSafetensors(file, scratch_.Path("model.safetensors")); });
  }

  const ScratchDirectory scratch_;
  SmallCheckpoint checkpoint_;
  const std::string job_;
  std::string job_content_;
  std::string part_content_;
  std::string params_content_;
};

const Folder& TheFolder() {
  static const Folder folder;
  return folder;
}

/// The chunk of the header and the values of a whole file.
std::string Unsigned(const std::string& content) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(content.at(i));
  const auto length = std::bit_cast<std::uint64_t>(bytes);
  return Chunk(content.substr(8, length)) + content.substr(8 + length);
}

void Read(std::uint8_t kind, FuzzInput& input) {
  switch (kind % kKinds) {
    case kFile:
      return TheFolder().ReadJob(input.Rest());
    case kParams:
      return TheFolder().ReadParameters(input.Rest());
    default:
      break;
  }
  const std::string header = input.NextChunk();
  const std::string content = Signed(header, input.Rest());
  if (kind % kKinds == kSignedFile) return TheFolder().ReadJob(content);
  TheFolder().ReadPart(content);
}

std::string Seed(Kind kind, const std::string& content) {
  return static_cast<char>(kind) + content;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const Folder& folder = TheFolder();
  return {Seed(kFile, folder.job_content()), Seed(kSignedFile, Unsigned(folder.job_content())),
          Seed(kPartFile, Unsigned(folder.part_content())), Seed(kParams, folder.params_content())};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  FuzzInput input(data, size);
  const std::uint8_t kind = input.Byte();
  DropRefusals([&] { Read(kind, input); });
  return 0;
}
