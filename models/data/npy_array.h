#ifndef RINGSIDE_MODELS_DATA_NPY_ARRAY_H_
#define RINGSIDE_MODELS_DATA_NPY_ARRAY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// An array in NumPy's format .npy
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1 to 3: in C
/// order, little-endian, of float32, float64, uint8, int32 or int64.
struct NpyArray {
  enum class Type { kFloat32, kFloat64, kUint8, kInt32, kInt64 };
  Type type = Type::kFloat32;
  std::vector<std::size_t> shape;
  std::string bytes;  ///< Elements x the size of the type.

  std::size_t elements() const;
  bool is_float() const { return type == Type::kFloat32 || type == Type::kFloat64; }
  /// Element i as a number. `i` < `elements()`.
  double At(std::size_t i) const;
  std::int64_t IntegerAt(std::size_t i) const;
};

/// The bytes of an element.
std::size_t SizeOf(NpyArray::Type type);

/// How long the parts of a .npy file are.
struct NpyLayout {
  std::size_t header_bytes = 0;  ///< What comes before the elements.
  std::size_t element_bytes = 0;
};

/// Reads the header of a .npy file, of which `start` is the first bytes, at least the header.
/// Throws `ConfigError` that says what is wrong.
NpyLayout ReadNpyLayout(std::string_view start);

/// Parses a whole .npy file. Throws `ConfigError` that says what is wrong.
NpyArray ParseNpy(std::string file);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_NPY_ARRAY_H_
