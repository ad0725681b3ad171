#include "ringside/experiments/system/files/certificate_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/make_certificates.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/private_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr int kAuthorityLives = 10;  // times as long as a certificate
constexpr int kSecret = 0600;

std::string AuthorityKeyPath(const std::string& directory) { return directory + "/ca-key.pem"; }

CertificateLife From(std::chrono::seconds lasts) {
  CertificateLife life;
  life.end = lasts;
  return life;
}

void MakeDirectory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    throw ConfigError(directory + ": cannot create the directory: " + std::strerror(errno));
  }
  CheckTlsDirectory(directory);
}

/// Also sees a symbolic link that leads nowhere.
void RefuseExisting(const std::string& path) {
  std::error_code ignored;  // of a path that cannot be read: writing it says why
  if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found) {
    throw ConfigError(path +
                      ": is there already; 'ringside certificates renew' replaces key and "
                      "certificate");
  }
}

/// The key comes first. A process that reads only one new file sees that they do not belong
/// together, and reads again a second later.
void WriteHostFiles(const TlsFiles& files, const KeyedCertificate& made) {
  WriteFileAtomically(files.key, made.key, kSecret);
  WriteFileAtomically(files.certificate, made.certificate);
}

}  // namespace

void MakeCertificateFiles(const std::string& directory, const std::vector<std::string>& hosts,
                          std::chrono::seconds lasts) {
  const TlsFiles files(directory);
  const KeyedCertificate authority = MakeAuthority(From(kAuthorityLives * lasts));
  const KeyedCertificate made = MakeHostCertificate(authority, hosts, From(lasts));
  MakeDirectory(directory);
  for (const std::string& path :
       {files.ca, files.certificate, files.key, AuthorityKeyPath(directory)}) {
    RefuseExisting(path);
  }
  WriteFileAtomically(AuthorityKeyPath(directory), authority.key, kSecret);
  WriteFileAtomically(files.ca, authority.certificate);
  WriteHostFiles(files, made);
  CheckTlsFiles(files);
}

void RenewCertificateFiles(const std::string& directory, std::vector<std::string> hosts,
                           std::chrono::seconds lasts) {
  const TlsFiles files(directory);
  CheckTlsDirectory(directory);
  const auto key = ReadPrivateFile(AuthorityKeyPath(directory), kMaxFileBytes);
  if (!key) {
    throw ConfigError(AuthorityKeyPath(directory) +
                      ": cannot be read; only the authority can renew its certificates");
  }
  try {
    const KeyedCertificate authority{ReadFile(files.ca, kMaxFileBytes), *key};
    if (hosts.empty()) {
      hosts = HostsOf(ReadFile(files.certificate, kMaxFileBytes), files.certificate);
    }
    WriteHostFiles(files, MakeHostCertificate(authority, hosts, From(lasts)));
  } catch (const ConfigError& error) {
    throw ConfigError(directory + ": " + error.what());
  }
  CheckTlsFiles(files);
}

}  // namespace ringside
