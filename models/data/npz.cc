#include "ringside/models/data/npz.h"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/regular_file.h"
#include "ringside/models/data/npy_array.h"

namespace ringside {
namespace {

/// A file with arrays, open for reading.
class NpzFile {
 public:
  /// Arrays that need more than `memory` bytes are refused; 0: unknown.
  NpzFile(const std::string& path, std::size_t memory) : path_(path), memory_(memory) {
    const RegularFile file(path);
    bytes_ = file.size();
    int error = 0;
    // It closes the descriptor if it succeeds.
    const int descriptor = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    zip_ = ::zip_fdopen(descriptor, 0, &error);
    if (zip_ != nullptr) return;
    if (descriptor >= 0) ::close(descriptor);
    zip_error_t text;
    ::zip_error_init_with_code(&text, error);
    const std::string reason = ::zip_error_strerror(&text);
    ::zip_error_fini(&text);
    throw DataError(path_, "it is no .npz file: " + reason);
  }
  ~NpzFile() { ::zip_discard(zip_); }
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;

  const std::string& path() const { return path_; }

  bool Has(const std::string& name) const {
    return ::zip_name_locate(zip_, (name + ".npy").c_str(), 0) >= 0;
  }

  /// Nothing if there is no such array.
  std::optional<NpyArray> Read(const std::string& name) const {
    zip_stat_t facts;
    const std::string member = name + ".npy";
    if (::zip_stat(zip_, member.c_str(), 0, &facts) != 0) return std::nullopt;
    try {
      return ParseNpy(ReadMember(name, member, facts));
    } catch (const ConfigError& error) {
      Fail(name, error.what());
    }
  }

  NpyArray Need(const std::string& name) const {
    auto array = Read(name);
    if (!array) throw DataError(path_, "it has no array '" + name + "'");
    return *std::move(array);
  }

  [[noreturn]] void Fail(const std::string& name, const std::string& reason) const {
    throw DataError(path_, "array '" + name + "': " + reason);
  }

 private:
  struct CloseMember {
    void operator()(zip_file_t* file) const { ::zip_fclose(file); }
  };
  using Member = std::unique_ptr<zip_file_t, CloseMember>;

  /// The archive may claim any size, so every claim is checked before memory is taken for it.
  std::string ReadMember(const std::string& name, const std::string& member,
                         const zip_stat_t& facts) const {
    RequirePossibleSize(name, facts);
    const Member file(::zip_fopen(zip_, member.c_str(), 0));
    if (file == nullptr) Fail(name, ::zip_strerror(zip_));
    // One byte more than it claims: an array that is longer is found.
    std::vector<char> piece(std::min<std::uint64_t>(kPiece, facts.size + 1));
    std::string content;
    while (true) {
      const std::size_t bytes = ReadPiece(name, *file, piece);
      if (bytes == 0) break;
      if (content.empty()) {
        RequireFit(name, std::string_view(piece.data(), bytes), facts.size);
        content.reserve(facts.size);
      }
      if (bytes > facts.size - content.size()) Fail(name, "it is longer than the archive says");
      content.append(piece.data(), bytes);
    }
    if (content.size() != facts.size) Fail(name, "it is cut off");
    return content;
  }

  void RequirePossibleSize(const std::string& name, const zip_stat_t& facts) const {
    constexpr std::uint64_t kMostOfDeflate = 1032;  // bytes of one byte
    if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE) {
      Fail(name, "it is packed in a way that NumPy does not use");
    }
    if (facts.size / kMostOfDeflate > bytes_) {
      Fail(name, "the archive says that it has " + std::to_string(facts.size) +
                     " bytes, which a file of " + std::to_string(bytes_) + " bytes cannot hold");
    }
  }

  /// `start`: the first bytes of the array.
  void RequireFit(const std::string& name, std::string_view start, std::uint64_t claimed) const {
    const NpyLayout layout = ReadNpyLayout(start);
    const std::size_t needed = layout.header_bytes + layout.element_bytes;
    if (needed != claimed) {
      Fail(name, "its shape needs " + std::to_string(needed) +
                     " bytes with the header, and it has " + std::to_string(claimed));
    }
    if (memory_ != 0 && needed > memory_) {
      Fail(name, "it needs " + std::to_string(needed) + " bytes of memory, and " +
                     std::to_string(memory_) + " are available");
    }
  }

  /// Returns the number of bytes; 0 at the end.
  std::size_t ReadPiece(const std::string& name, zip_file_t& file, std::vector<char>& piece) const {
    std::size_t filled = 0;
    while (filled < piece.size()) {
      const zip_int64_t bytes = ::zip_fread(&file, piece.data() + filled, piece.size() - filled);
      if (bytes < 0) Fail(name, ::zip_file_strerror(&file));
      if (bytes == 0) break;
      filled += static_cast<std::size_t>(bytes);
    }
    return filled;
  }

  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  const std::string path_;
  const std::size_t memory_;
  std::uint64_t bytes_ = 0;
  zip_t* zip_ = nullptr;
};

/// One split. Either classes or targets are empty, and either floats or integers.
struct NpzSplit {
  std::size_t samples = 0;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  std::vector<std::int64_t> classes;
  std::vector<float> targets;
};

class NpzDataset : public Dataset {
 public:
  explicit NpzDataset(const NpzFile& file) {
    ReadSplit(file, "train", train_);
    if (file.Has("x_test")) ReadSplit(file, "test", test_);
  }

  SampleShape shape() const override { return shape_; }
  int classes() const override { return classes_; }
  std::size_t size(Split split) const override { return Of(split).samples; }
  std::size_t targets() const override { return targets_; }
  bool integer_inputs() const override { return integer_inputs_; }

  std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override {
    const NpzSplit& of = Of(split);
    if (!out.empty()) CopyTo(of.floats, index, out);
    return of.classes.empty() ? 0 : of.classes[index];
  }
  void ReadIntegers(Split split, std::size_t index, std::span<std::int64_t> out) const override {
    CopyTo(Of(split).integers, index, out);
  }
  void ReadTargets(Split split, std::size_t index, std::span<float> out) const override {
    CopyTo(Of(split).targets, index, out);
  }

 private:
  const NpzSplit& Of(Split split) const { return split == Split::kTrain ? train_ : test_; }

  template <typename T>
  static void CopyTo(const std::vector<T>& all, std::size_t index, std::span<T> out) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(index * out.size()), out.size(),
                out.begin());
  }

  void ReadSplit(const NpzFile& file, const std::string& name, NpzSplit& split) {
    const bool first = name == "train";
    const NpyArray x = file.Need("x_" + name);
    ReadInputs(file, "x_" + name, x, first, split);
    const NpyArray y = file.Need("y_" + name);
    ReadAnswers(file, "y_" + name, y, first, split);
  }

  void ReadInputs(const NpzFile& file, const std::string& name, const NpyArray& x, bool first,
                  NpzSplit& split) {
    if (x.shape.empty() || x.elements() == 0) file.Fail(name, "it has no samples");
    const SampleShape shape = ShapeOf(x.shape);
    const bool integers = x.type == NpyArray::Type::kInt32 || x.type == NpyArray::Type::kInt64;
    if (!first && (shape != shape_ || integers != integer_inputs_)) {
      file.Fail(name, "its samples are of another kind than those of x_train");
    }
    shape_ = shape;
    integer_inputs_ = integers;
    split.samples = x.shape.front();
    const std::size_t elements = x.elements();
    if (integers) {
      split.integers.resize(elements);
      for (std::size_t i = 0; i < elements; ++i) split.integers[i] = x.IntegerAt(i);
    } else {
      split.floats = FiniteFloats(file, name, x);
    }
  }

  /// Of an array with rows.
  static std::vector<float> FiniteFloats(const NpzFile& file, const std::string& name,
                                         const NpyArray& array) {
    std::vector<float> floats(array.elements());
    for (std::size_t i = 0; i < floats.size(); ++i) {
      floats[i] = static_cast<float>(array.At(i));
      if (std::isfinite(floats[i])) continue;
      const std::size_t row = i / (floats.size() / array.shape.front());
      file.Fail(name, "row " + std::to_string(row) + " has a number that is not finite in float32");
    }
    return floats;
  }

  static SampleShape ShapeOf(const std::vector<std::size_t>& shape) {
    SampleShape sample;
    sample.dimensions = shape.size() - 1;
    if (shape.size() > 1) sample.width = shape[shape.size() - 1];
    if (shape.size() > 2) sample.height = shape[shape.size() - 2];
    if (shape.size() > 3) sample.channels = shape[shape.size() - 3];
    return sample;
  }

  void ReadAnswers(const NpzFile& file, const std::string& name, const NpyArray& y, bool first,
                   NpzSplit& split) {
    if (y.shape.empty() || y.shape.front() != split.samples) {
      file.Fail(name, "it has not as many rows as there are samples");
    }
    const std::size_t targets = y.is_float() ? y.elements() / split.samples : 0;
    if (!first && targets != targets_) {
      file.Fail(name, "its answers are of another kind than those of y_train");
    }
    if (y.shape.size() > (y.is_float() ? 2 : 1)) file.Fail(name, "it has too many dimensions");
    if (y.is_float() && targets == 0) file.Fail(name, "it has no numbers");
    targets_ = targets;
    if (y.is_float()) {
      split.targets = FiniteFloats(file, name, y);
    } else {
      ReadClasses(file, name, y, first, split);
    }
  }

  void ReadClasses(const NpzFile& file, const std::string& name, const NpyArray& y, bool first,
                   NpzSplit& split) {
    constexpr std::int64_t kMostClasses = 1'000'000;
    for (std::size_t i = 0; i < split.samples; ++i) {
      const std::int64_t value = y.IntegerAt(i);
      if (value < 0 || value >= kMostClasses) {
        file.Fail(name, "sample " + std::to_string(i) + " has the class " + std::to_string(value) +
                            "; classes count from 0, up to " + std::to_string(kMostClasses - 1));
      }
      if (!first && value >= classes_) {
        file.Fail(name, "sample " + std::to_string(i) + " has the class " + std::to_string(value) +
                            ", which y_train does not have");
      }
      if (first) classes_ = std::max(classes_, static_cast<int>(value) + 1);
      split.classes.push_back(value);
    }
  }

  SampleShape shape_;
  int classes_ = 1;  // where answers are numbers
  std::size_t targets_ = 0;
  bool integer_inputs_ = false;
  NpzSplit train_;
  NpzSplit test_;
};

}  // namespace

std::unique_ptr<Dataset> MakeNpz(const std::string& path, std::size_t memory) {
  return std::make_unique<NpzDataset>(NpzFile(path, memory));
}

}  // namespace ringside
