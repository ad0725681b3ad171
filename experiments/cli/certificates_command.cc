#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/system/files/certificate_files.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::int64_t kMostDays = 3650;

OptionSet CertificatesOptions() {
  OptionSet options(
      "certificates", "make, renew or check the certificates of a job",
      {{"ringside certificates make certs --hosts 10.0.0.1,10.0.0.2",
        "an authority of the job's own, and a certificate for two hosts; for --tls certs"},
       {"ringside certificates renew certs", "a new key and certificate; running jobs take them"},
       {"ringside certificates check certs", "until when they are valid, or what is wrong"}});
  options.TakePositional({"ACTION", "make, renew or check"});
  options.TakePositional({"DIR", "directory of ca.pem, cert.pem, key.pem (and ca-key.pem)"});
  options.AddGroup("What is made");
  options.Add({"hosts", "HOST,...",
               "IP addresses and names that the certificate is for; renew: else those of the old "
               "one; make: else this machine's loopback",
               ""});
  options.Add({"days", "N", "how long the certificate is valid", "90"});
  return options;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::chrono::seconds ReadDays(const ParsedOptions& parsed) {
  const std::int64_t days = ReadFlag(parsed, "days", ParseInteger);
  if (days < 1 || days > kMostDays) {
    throw UsageError(fmt::format("--days: {} is not from 1 to {}", days, kMostDays));
  }
  return std::chrono::hours(24 * days);
}

void Make(const std::string& directory, std::vector<std::string> hosts, std::chrono::seconds life) {
  if (hosts.empty()) hosts = {"127.0.0.1", "::1", "localhost"};
  MakeCertificateFiles(directory, hosts, life);
  PrintText(stderr,
            "{}: certificates for {}\ncopy ca.pem, cert.pem and key.pem to each host, and keep "
            "ca-key.pem to yourself\n",
            directory, fmt::join(hosts, ", "));
}

int Check(const std::string& directory) {
  const TlsFiles files(directory);
  try {
    CheckTlsFiles(files);
  } catch (const ConfigError& error) {
    PrintText(stdout, "{}\n", error.what());
    return kExitFailed;
  }
  fmt::print("valid until {}\n", EndOfCertificate(files));
  return kExitDone;
}

}  // namespace

int RunCertificatesCommand(const Arguments& args, const Catalog&) {
  const OptionSet options = CertificatesOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const std::string& action = parsed.positional();
  const std::string& directory = parsed.positionals()[1];
  const std::vector<std::string> hosts = SplitAtCommas(parsed.Get("hosts"));
  const std::chrono::seconds life = ReadDays(parsed);
  if (action != "make" && action != "renew" && action != "check") {
    throw UsageError("certificates: there is no action '" + action + "'; make, renew or check");
  }
  try {
    if (action == "make") Make(directory, hosts, life);
    if (action == "renew") RenewCertificateFiles(directory, hosts, life);
  } catch (const ConfigError& error) {
    throw UsageError(error.what());
  }
  return Check(directory);
}

}  // namespace ringside
