#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SHA256_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SHA256_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace ringside {

inline constexpr std::size_t kSha256Bytes = 32;

/// SHA-256 (FIPS 180-4). Throws `InternalError` when the library fails.
std::array<std::byte, kSha256Bytes> Sha256(std::span<const std::byte> data);
/// The same as 64 lower-case hex digits.
std::string Sha256Hex(std::span<const std::byte> data);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_SHA256_H_
