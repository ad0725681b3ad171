// What the processes of a job tell each other before they are connected: the rendezvous file and
// the token file, addresses of servers, plans, the greetings and the proof of the
// token with which connections begin.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/greeting.h"
#include "ringside/common/security/handshake_mac.h"
#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/experiments/job/processes/rendezvous_file.h"
#include "ringside/experiments/system/environment/rank_environment.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

enum Kind : std::uint8_t {
  kRendezvousFile,
  kTokenFile,
  kServerAddress,
  kPlan,
  kPeerGreeting,
  kGreeting,
  kProof,
  kKinds,
};

constexpr char kKey[] = "key";
constexpr char kTokenName[] = "token";

/// A private directory with the rendezvous file of this process.
class Meeting {
 public:
  std::string Published() const {
    std::ifstream file(file_.path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void ReadRendezvous(const std::string& content) const {
    scratch_.Write(file_.path().substr(scratch_.path().size() + 1), content);
    RendezvousFile::Wait(environment_, kKey, Deadline::After(std::chrono::seconds(0)));
  }
  void ReadToken(const std::string& content) const {
    scratch_.Write(kTokenName, content);
    ReadTokenFile(scratch_.Path(kTokenName));
  }

 private:
  const ScratchDirectory scratch_;
  const Environment environment_{{"XDG_RUNTIME_DIR", scratch_.path()}};
  const RendezvousFile file_{environment_, kKey, {"127.0.0.1:1", std::string(64, 'a')}};
};

Meeting& TheMeeting() {
  static Meeting meeting;
  return meeting;
}

const ServerHandshake& TheHandshake() {
  static const ServerHandshake handshake(ServerHandshake::Protocol::kFrames, "secret of the job", 2,
                                         1);
  return handshake;
}

void ReadGreeting(const std::string& bytes) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error("no pair of sockets");
  }
  const FileDescriptor worker(ends[0]);
  WaitingRoom::Visitor server{.socket = FileDescriptor(ends[1])};
  const std::size_t size = std::min<std::size_t>(bytes.size(), 1024);
  if (size > 0 && ::send(worker.get(), bytes.data(), size, MSG_DONTWAIT) < 0) {
    throw std::runtime_error("the socket takes no bytes");
  }
  if (::shutdown(worker.get(), SHUT_WR) != 0) throw std::runtime_error("the socket does not close");
  static_cast<void>(TheHandshake().Judge(server, 0));
}

const HandshakeMac& TheMac() {
  static const HandshakeMac mac("secret of the job", "links", 4);
  return mac;
}

const Greeter& TheGreeter() {
  static const Greeter greeter(0x47525352, 1, TheMac());
  return greeter;
}

/// Only the bytes of the right greeting have no flaw.
void CheckPeerGreeting(const std::string& content) {
  std::string bytes = content;
  bytes.resize(kGreetingBytes);
  Greeting heard{};
  std::memcpy(heard.data(), bytes.data(), heard.size());
  // The caller decides from whom it is.
  const bool same = heard == TheGreeter().Make(Greeter::IndexOf(heard), 1, 3);
  if (TheGreeter().FlawOf(heard, 1, 3).empty() != same) {
    throw InternalError("a wrong greeting is taken, or the right one is not");
  }
}

void CheckProof(const std::string& bytes) {
  std::array<std::byte, kMacBytes> shown{};
  std::transform(bytes.begin(),
                 bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), shown.size())),
                 shown.begin(), [](char c) { return static_cast<std::byte>(c); });
  const bool right = shown == TheMac().Make(1, 3);
  if (TheMac().Check(shown, 1, 3) != right) throw InternalError("a wrong proof is taken");
}

void Read(std::uint8_t kind, const std::string& content) {
  switch (kind % kKinds) {
    case kRendezvousFile:
      return TheMeeting().ReadRendezvous(content);
    case kTokenFile:
      return TheMeeting().ReadToken(content);
    case kServerAddress:
      static_cast<void>(TransportTable().ParseAddress(content));
      return;
    case kPlan: {
      const std::array plans{PlanSummary{}, PlanSummaryFromText(content, 1)};
      return CheckPlanAgreement(plans);
    }
    case kPeerGreeting:
      return CheckPeerGreeting(content);
    case kGreeting:
      return ReadGreeting(content);
    default:
      return CheckProof(content);
  }
}

std::string Seed(Kind kind, const std::string& content) {
  return static_cast<char>(kind) + content;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {Seed(kRendezvousFile, TheMeeting().Published()),
          Seed(kTokenFile, std::string(64, 'a') + "\n"),
          Seed(kServerAddress, "tcp 127.0.0.1:4711"),
          Seed(kServerAddress, "uds ringside-0123456789abcdef 01234567-89ab.4026531840"),
          Seed(kPlan, PlanSummary{.fingerprint = 17, .elements = 100, .buckets = 3}.ToText()),
          Seed(kPeerGreeting, TextOf(TheGreeter().Make(1, 1, 3))),
          Seed(kGreeting, TextOf(TheHandshake().OfWorker(1, 0))),
          Seed(kGreeting, TextOf(TheHandshake().OfServer(0, 1))),
          Seed(kProof, TextOf(TheMac().Make(1, 3)))};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  FuzzInput input(data, size);
  const std::uint8_t kind = input.Byte();
  const std::string content = input.Rest();
  DropRefusals([&] { Read(kind, content); });
  return 0;
}
