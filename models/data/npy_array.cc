// A .npy file: the magic bytes \x93NUMPY, two bytes of version, the length of the header (two bytes
// in version 1, else four), the header, and the elements. The header is a Python dictionary:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#include "ringside/models/data/npy_array.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 4;

constexpr std::array<std::pair<std::string_view, NpyArray::Type>, 6> kTypes{
    {{"<f4", NpyArray::Type::kFloat32},
     {"<f8", NpyArray::Type::kFloat64},
     {"|u1", NpyArray::Type::kUint8},
     {"<u1", NpyArray::Type::kUint8},
     {"<i4", NpyArray::Type::kInt32},
     {"<i8", NpyArray::Type::kInt64}}};

[[noreturn]] void Refuse(const std::string& reason) { throw ConfigError(reason); }

/// Reads the dictionary, which NumPy writes in this form only.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  void Read(NpyArray& array) {
    Expect('{');
    while (!Takes('}')) {
      const std::string_view key = Quoted();
      Expect(':');
      ReadValue(key, array);
      if (!Takes(',')) {
        Expect('}');
        break;
      }
    }
    if (!has_type_ || !has_order_ || !has_shape_) {
      Refuse("its header lacks descr, fortran_order or shape");
    }
  }

 private:
  void ReadValue(std::string_view key, NpyArray& array) {
    if (key == "descr") {
      array.type = TypeOf(Quoted());
      has_type_ = true;
    } else if (key == "fortran_order") {
      if (!TakesWord("False")) {
        Refuse("it is in Fortran order; save numpy.ascontiguousarray(x)");
      }
      has_order_ = true;
    } else if (key == "shape") {
      ReadShape(array.shape);
      has_shape_ = true;
    } else {
      Refuse("its header has the unknown key '" + std::string(key) + "'");
    }
  }

  static NpyArray::Type TypeOf(std::string_view name) {
    for (const auto& [known, type] : kTypes) {
      if (known == name) return type;
    }
    Refuse("its type is '" + std::string(name) +
           "'; float32, float64, uint8, int32 and int64 can be read, little-endian");
  }

  void ReadShape(std::vector<std::size_t>& shape) {
    Expect('(');
    shape.clear();
    while (!Takes(')')) {
      if (shape.size() == kMaxDimensions) Refuse("it has more than 4 dimensions");
      shape.push_back(Number());
      if (!Takes(',')) {
        Expect(')');
        break;
      }
    }
  }

  std::size_t Number() {
    SkipBlanks();
    std::size_t number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) Refuse("its shape is no list of numbers");
    at_ += static_cast<std::size_t>(end - begin);
    return number;
  }

  std::string_view Quoted() {
    Expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) Refuse("a text in its header does not end");
    const std::string_view text = text_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Takes(char c) {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakesWord(std::string_view word) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void Expect(char c) {
    if (!Takes(c)) Refuse(std::string("its header has no '") + c + "' where one belongs");
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

/// Where the header begins and ends.
std::pair<std::size_t, std::size_t> HeaderOf(std::string_view file) {
  constexpr std::size_t kVersionAt = 6;
  constexpr std::size_t kLengthAt = 8;
  if (!file.starts_with(kMagic) || file.size() < kLengthAt + 4) Refuse("it is no .npy array");
  const int version = file[kVersionAt];
  if (version < 1 || version > 3) {
    Refuse("it is of version " + std::to_string(version) + " of the format; 1 to 3 can be read");
  }
  const std::size_t bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(file[kLengthAt + i])} << (8 * i);
  }
  const std::size_t begin = kLengthAt + bytes;
  if (length > file.size() - begin) Refuse("its header is cut off");
  return {begin, begin + length};
}

template <typename T>
T Load(const std::string& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::size_t SizeOf(NpyArray::Type type) {
  switch (type) {
    case NpyArray::Type::kUint8:
      return 1;
    case NpyArray::Type::kFloat32:
    case NpyArray::Type::kInt32:
      return 4;
    case NpyArray::Type::kFloat64:
    case NpyArray::Type::kInt64:
      return 8;
  }
  return 0;
}

std::size_t NpyArray::elements() const {
  std::size_t product = 1;
  for (const std::size_t length : shape) product *= length;
  return product;
}

double NpyArray::At(std::size_t i) const {
  if (type == Type::kFloat32) return Load<float>(bytes, i);
  if (type == Type::kFloat64) return Load<double>(bytes, i);
  return static_cast<double>(IntegerAt(i));
}

std::int64_t NpyArray::IntegerAt(std::size_t i) const {
  switch (type) {
    case Type::kUint8:
      return Load<std::uint8_t>(bytes, i);
    case Type::kInt32:
      return Load<std::int32_t>(bytes, i);
    case Type::kInt64:
      return Load<std::int64_t>(bytes, i);
    case Type::kFloat32:
    case Type::kFloat64:
      break;
  }
  throw InternalError("an array of floats has no integers");
}

namespace {

NpyLayout LayoutOf(std::string_view file, NpyArray& array) {
  const auto [begin, end] = HeaderOf(file);
  HeaderReader(file.substr(begin, end - begin)).Read(array);
  NpyLayout layout{.header_bytes = end, .element_bytes = SizeOf(array.type)};
  for (const std::size_t length : array.shape) {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
    if (length != 0 && layout.element_bytes > kMost / length) Refuse("its shape is too large");
    layout.element_bytes *= length;
  }
  return layout;
}

}  // namespace

NpyLayout ReadNpyLayout(std::string_view start) {
  NpyArray array;
  return LayoutOf(start, array);
}

NpyArray ParseNpy(std::string file) {
  NpyArray array;
  const NpyLayout layout = LayoutOf(file, array);
  const std::size_t rest = file.size() - layout.header_bytes;
  if (rest != layout.element_bytes) {
    Refuse("its shape needs " + std::to_string(layout.element_bytes) + " bytes, and " +
           std::to_string(rest) + " follow the header");
  }
  file.erase(0, layout.header_bytes);
  array.bytes = std::move(file);
  return array;
}

}  // namespace ringside
