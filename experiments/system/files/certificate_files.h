#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_CERTIFICATE_FILES_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_CERTIFICATE_FILES_H_

#include <chrono>
#include <string>
#include <vector>

namespace ringside {

/// Makes the certificates of a job in a directory, which may be missing: the files of `TlsFiles`,
/// and ca-key.pem, the key of the authority, which no process of a job needs. Both keys have mode
/// 0600. The authority is valid for ten times `lasts`. Throws `ConfigError` when one of the files
/// is there, even as a symbolic link, or other users can change the directory; `DataError` when it
/// cannot be written.
void MakeCertificateFiles(const std::string& directory, const std::vector<std::string>& hosts,
                          std::chrono::seconds lasts);

/// Replaces key.pem and cert.pem by new ones that the same authority signs. Running jobs take them
/// within seconds. Without `hosts` the new certificate is for those of the old one. Throws
/// `ConfigError` when ca.pem or ca-key.pem is missing, others can read that key, or it does not
/// belong to ca.pem; `DataError` when a file cannot be written.
void RenewCertificateFiles(const std::string& directory, std::vector<std::string> hosts,
                           std::chrono::seconds lasts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_CERTIFICATE_FILES_H_
