#ifndef RINGSIDE_COMMON_SECURITY_TLS_FILES_H_
#define RINGSIDE_COMMON_SECURITY_TLS_FILES_H_

#include <string>

namespace ringside {

/// The files by which the processes of a host prove who they are, and know the others. All are in
/// PEM form and lie in one directory.
struct TlsFiles {
  explicit TlsFiles(const std::string& in);

  std::string directory;
  std::string ca;           ///< ca.pem: the authorities whose certificates are trusted.
  std::string certificate;  ///< cert.pem: the certificate of this host, then those that signed it.
  std::string key;          ///< key.pem: its private key, which only the user can read.
};

/// Checks that the files can be used, now: nobody else can change them or read the key, the key
/// belongs to the certificate, and the certificate is valid and signed by an authority of ca.pem.
/// Follows no symbolic link to a file. Throws `ConfigError` that names the file.
void CheckTlsFiles(const TlsFiles& files);

/// Checks only that other users cannot change what is in the directory, which may be a symbolic
/// link. Throws `ConfigError`.
void CheckTlsDirectory(const std::string& path);

/// When the certificate runs out: "2027-01-31 12:00:00 UTC". Throws `ConfigError`.
std::string EndOfCertificate(const TlsFiles& files);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_TLS_FILES_H_
