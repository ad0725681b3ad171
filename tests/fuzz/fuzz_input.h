#ifndef RINGSIDE_TESTS_FUZZ_FUZZ_INPUT_H_
#define RINGSIDE_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Takes an input apart, front to back. What an input lacks is zero or empty. Borrows the bytes.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }

  std::uint8_t Byte() {
    const std::string byte = Bytes(1);
    return byte.empty() ? 0 : static_cast<std::uint8_t>(byte.front());
  }
  /// At most `count` bytes.
  std::string Bytes(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return std::string(taken);
  }
  std::string Rest() { return Bytes(rest_.size()); }
  /// Two bytes of length, little-endian, then as many bytes. See `Chunk`.
  std::string NextChunk() {
    const std::size_t low = Byte();
    const std::size_t high = Byte();
    return Bytes(high << 8 | low);
  }
  /// What stands before `separator`, which is dropped; or all the rest.
  std::string NextPart(std::string_view separator) {
    std::string part = Bytes(rest_.find(separator));  // npos: all of it
    Bytes(separator.size());
    return part;
  }

 private:
  std::string_view rest_;
};

/// What `FuzzInput::NextChunk` reads. At most 65,535 bytes.
inline std::string Chunk(std::string_view bytes) {
  std::string chunk{static_cast<char>(bytes.size() & 0xff), static_cast<char>(bytes.size() >> 8)};
  return chunk.append(bytes);
}

inline std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FUZZ_FUZZ_INPUT_H_
