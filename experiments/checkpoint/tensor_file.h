#ifndef RINGSIDE_EXPERIMENTS_CHECKPOINT_TENSOR_FILE_H_
#define RINGSIDE_EXPERIMENTS_CHECKPOINT_TENSOR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/regular_file.h"

namespace ringside {

/// The longest header that a tensor file may have, in bytes.
inline constexpr std::size_t kMaxTensorFileHeader = std::size_t{4} << 20;

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;  ///< Empty: a single value.

  bool operator==(const NamedShape&) const = default;
};

/// Tensors that lie one after the other in `values`, under one checksum.
struct TensorSection {
  std::string name;  ///< Without '/'. The file calls a tensor "section/name".
  std::vector<NamedShape> tensors;
  std::span<const float> values;  ///< As many as the shapes say. Borrowed.
};

using TensorFileMetadata = std::map<std::string, std::string>;

/// Writes a file of fp32 tensors, which is also a valid safetensors file
/// (github.com/huggingface/safetensors): the header's length (8 bytes), a JSON header, the values,
/// little-endian, in the order of the header. The header's `__metadata__` also has a SHA-256 of
/// each section and one of the header itself, computed while its own digits were zeros. So every
/// byte of the file is under a checksum.
///
/// Sections without tensors are left out. Writes under a temporary name, syncs, renames. Returns
/// the digest of the header, which stands for the whole content. Throws `DataError` when the file
/// cannot be written, and `ConfigError` when the header is longer than `kMaxTensorFileHeader`.
std::string WriteTensorFile(const std::string& path, const TensorFileMetadata& metadata,
                            std::span<const TensorSection> sections);

/// The file that `WriteTensorFile` wrote, open for reading. The constructor reads and checks the
/// header. Everything is checked before memory is taken for it. Throws `DataError` with the offset
/// of what is damaged.
class TensorFileReader {
 public:
  struct Section {
    std::string name;
    std::vector<NamedShape> tensors;
    std::uint64_t offset = 0;  ///< In bytes, from the beginning of the file.
    std::uint64_t values = 0;
    std::string sha256;
  };

  explicit TensorFileReader(const std::string& path);

  const std::string& path() const { return file_.path(); }
  /// What the writer gave; the checksums are not in it.
  const TensorFileMetadata& metadata() const { return metadata_; }
  const std::string& digest() const { return digest_; }
  std::span<const Section> sections() const { return sections_; }
  /// Returns null when there is no such section.
  const Section* Find(std::string_view name) const;
  /// Reads the values of a section and checks them.
  std::vector<float> Read(const Section& section) const;

 private:
  std::string ReadHeader(std::uint64_t size);
  void CheckDigest(const std::string& header);
  void Parse(const std::string& header, std::uint64_t size);
  void ReadAt(std::uint64_t offset, std::span<std::byte> out, const std::string& what) const;
  [[noreturn]] void Fail(std::uint64_t offset, const std::string& expected) const;

  RegularFile file_;
  std::uint64_t data_begin_ = 0;
  TensorFileMetadata metadata_;
  std::string digest_;
  std::vector<Section> sections_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHECKPOINT_TENSOR_FILE_H_
