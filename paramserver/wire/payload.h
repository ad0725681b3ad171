#ifndef RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_H_
#define RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

using Piece = std::span<const std::byte>;

/// Received bytes, in the pieces in which the transport received them. Owns the memory (or keeps it
/// alive) until destruction, so a payload can wait without being copied. Immutable, so any thread
/// may read it.
class Payload {
 public:
  virtual ~Payload() = default;
  virtual std::span<const Piece> pieces() const = 0;

  std::size_t bytes() const;
};

/// A payload that owns its bytes, for tests and callers without a transport.
class OwnedPayload : public Payload {
 public:
  /// Cuts `bytes` into pieces at the given offsets, which ascend.
  explicit OwnedPayload(std::vector<std::byte> bytes, std::span<const std::size_t> cuts = {});
  explicit OwnedPayload(std::span<const float> values);

  std::span<const Piece> pieces() const override { return pieces_; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<Piece> pieces_;
};

/// A payload in one piece that owns its bytes. Its memory can be reused.
class JoinedPayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { return {&piece_, 1}; }
  /// Contains the first `bytes` of `payload`, or all of them if there are fewer.
  void Assign(const Payload& payload, std::size_t bytes);
  /// Contains only its first `bytes`, which are not more than it has.
  void Shorten(std::size_t bytes) { piece_ = piece_.first(bytes); }
  void Clear() { piece_ = {}; }

 private:
  std::vector<std::byte> bytes_;
  Piece piece_;
};

/// How many payload bytes our own code has copied or summed. Every byte that this folder reads or
/// writes passes through a `FloatReader`, so these counts are complete. Bytes that were sent
/// straight from a vector, or that only waited, do not count.
struct CopyCount {
  std::uint64_t assigned = 0;  ///< Bytes written over the receiver's memory.
  std::uint64_t added = 0;     ///< Bytes added to the receiver's memory.
  std::uint64_t total() const { return assigned + added; }
  CopyCount& operator+=(const CopyCount& other) {
    assigned += other.assigned;
    added += other.added;
    return *this;
  }
};

/// Reads a payload front to back as 32-bit floats, little-endian. Pieces may begin at any address,
/// and a float may cross the border of two or more pieces. Borrows the pieces.
class FloatReader {
 public:
  explicit FloatReader(std::span<const Piece> pieces) : pieces_(pieces) {}

  /// out = the next out.size() floats. Throws `InternalError` past the end.
  void Assign(std::span<float> out);
  /// sum += the next sum.size() floats.
  void Add(std::span<float> sum);

  const CopyCount& count() const { return count_; }

 private:
  template <typename Operation>
  void Read(std::span<float> out, Operation operation);
  Piece NextRun(std::size_t wanted_bytes, std::array<std::byte, sizeof(float)>& gathered);

  std::span<const Piece> pieces_;
  std::size_t offset_ = 0;  // into the first of pieces_
  CopyCount count_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_H_
