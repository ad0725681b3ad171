#ifndef RINGSIDE_EXPERIMENTS_SHA256_H_
#define RINGSIDE_EXPERIMENTS_SHA256_H_

#include <cstddef>
#include <span>
#include <string>

namespace ringside {

/// SHA-256 (FIPS 180-4) as 64 lower-case hex digits. Throws `InternalError` when the library fails.
std::string Sha256Hex(std::span<const std::byte> data);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SHA256_H_
