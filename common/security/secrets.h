#ifndef RINGSIDE_COMMON_SECURITY_SECRETS_H_
#define RINGSIDE_COMMON_SECURITY_SECRETS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Returns a text that cannot be guessed: `bytes` random bytes from OpenSSL, as two hex digits
/// each. Throws `InternalError` when OpenSSL has none.
std::string RandomHex(std::size_t bytes);

/// The job's secret: 256 random bits as 64 hex digits. It is passed through a pipe or a 0600 file,
/// and as metadata of calls. It never appears in argv, the environment, logs or the store.
std::string MakeToken();

/// Whether both are equal. The time depends only on whether their lengths are equal, not on where
/// they differ.
bool SecretsEqual(std::span<const std::byte> left, std::span<const std::byte> right);
bool SecretsEqual(std::string_view left, std::string_view right);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_SECRETS_H_
