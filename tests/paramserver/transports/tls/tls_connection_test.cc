// Servers and workers as threads, each with certificates.
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/tsan_handoff.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/core/listener.h"
#include "ringside/paramserver/transports/tls/tls_probe.h"
#include "tests/common/few_descriptors.h"
#include "tests/common/test_certificates.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::chrono::seconds kPatience{30};

StrategyOptions OverGrpc() {
  StrategyOptions options;
  options.Set(kPsTransport, "grpc");
  return options;
}

/// Calls `attempt` until it returns true.
void RepeatUntil(const std::function<bool()>& attempt) {
  const Deadline deadline = Deadline::After(kPatience);
  while (!attempt()) {
    if (deadline.expired()) throw std::runtime_error("it never came about");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

class TlsConnectionTest : public ::testing::Test {
 protected:
  PsCluster MakeCluster(int workers = 1) const {
    return PsCluster({.workers = workers,
                      .timeout = 2 * kPatience,
                      .strategy = OverGrpc(),
                      .tls = certificates_.path()});
  }

  /// Starts a worker of its own, with other certificates than the cluster's.
  static void StartWorker(PsCluster& cluster, const std::string& tls) {
    const auto worker = cluster.MakeWorker(0);
    CommOptions comm = cluster.comm();
    comm.tls = tls;
    const Schedule schedule({.base = 1.0});
    const StrategyContext context{.world = worker->world,
                                  .store = cluster.store(),
                                  .comm = comm,
                                  .optimizer = *worker->optimizer,
                                  .schedule = schedule,
                                  .recorder = worker->recorder,
                                  .timeline = worker->timeline,
                                  .options = OverGrpc()};
    kPsSyncEntry.make(context)->Start(worker->space, worker->plan, {});
  }

  static void Probe(PsCluster& cluster, const TestCertificates& own) {
    CheckTlsPeer("server 0", cluster.endpoint(0), TlsFiles(own.path()), Deadline::After(kPatience));
  }

  const TestCertificates certificates_;
};

TEST_F(TlsConnectionTest, TrainsAsWithoutTls) {
  PsCluster cluster = MakeCluster(3);
  cluster.Run([](TestWorker& worker) {
    worker.FillGradients(1);
    for (int step = 0; step < 3; ++step) worker.Step(step);
    for (const float value : worker.space.params()) ASSERT_EQ(value, -9.0F);
  });
}

TEST_F(TlsConnectionTest, AServerOfAnotherAuthorityIsRefusedByName) {
  PsCluster cluster = MakeCluster();
  const TestCertificates others;
  try {
    StartWorker(cluster, others.path());
    FAIL() << "the worker accepted the server";
  } catch (const CertificateError& error) {
    EXPECT_THAT(error.peer(), HasSubstr("server 0 at 127.0.0.1:"));
    EXPECT_THAT(error.what(), HasSubstr("is not signed by the authority in ca.pem"));
  }
}

// The worker accepts the server, but not the other way round.
TEST_F(TlsConnectionTest, AWorkerOfAnotherAuthorityIsRefused) {
  PsCluster cluster = MakeCluster();
  const TestCertificates others;
  others.Trust(others.authority().certificate + certificates_.authority().certificate);
  EXPECT_THROW(StartWorker(cluster, others.path()), Error);
}

TEST_F(TlsConnectionTest, ACertificateForOtherHostsIsRefused) {
  PsCluster cluster = MakeCluster();
  const KeyedCertificate other = MakeHostCertificate(certificates_.authority(), {"10.0.0.1"}, {});
  std::ofstream(certificates_.Path("key.pem")) << other.key;
  std::ofstream(certificates_.Path("cert.pem")) << other.certificate;
  const TestCertificates own(certificates_.authority());
  RepeatUntil([&] {
    try {
      Probe(cluster, own);
      return false;
    } catch (const CertificateError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the certificate of 'Ringside 10.0.0.1' is for other"));
      return true;
    } catch (const CommError&) {
      return false;  // the server has read half of the change
    }
  });
}

TEST_F(TlsConnectionTest, ACertificateThatRanOutIsNamedWithItsPeer) {
  PsCluster cluster = MakeCluster();
  const TestCertificates own(certificates_.authority());
  EXPECT_NO_THROW(Probe(cluster, own));
  certificates_.Renew(certificates_.authority(), kRanOut);
  RepeatUntil([&] {
    try {
      Probe(cluster, own);
      return false;
    } catch (const CertificateError& error) {
      EXPECT_EQ(error.peer(), "server 0");
      EXPECT_THAT(error.what(), HasSubstr("the certificate of 'Ringside 127.0.0.1' ran out on 20"));
      return true;
    } catch (const CommError&) {
      return false;
    }
  });
}

TEST_F(TlsConnectionTest, AnOwnCertificateThatRanOutIsRefusedBeforeAnythingIsSent) {
  PsCluster cluster = MakeCluster();
  const TestCertificates own(certificates_.authority(), kRanOut);
  EXPECT_THAT([&] { StartWorker(cluster, own.path()); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr(own.path()), HasSubstr("ran out on"))));
  EXPECT_THROW(PsCluster({.workers = 1, .strategy = OverGrpc(), .tls = own.path()}), ConfigError);
}

TEST_F(TlsConnectionTest, NobodyGetsInWithoutACertificate) {
  PsCluster cluster = MakeCluster();
  grpc::SslCredentialsOptions trusting;
  trusting.pem_root_certs = certificates_.authority().certificate;
  for (const auto& credentials :
       {grpc::SslCredentials(trusting), grpc::InsecureChannelCredentials()}) {
    grpc::GenericStub stub(grpc::CreateChannel(cluster.endpoint(0), credentials));
    grpc::ClientContext context;
    context.AddMetadata("ringside-token", cluster.comm().token);
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const grpc::Slice nothing;
    grpc::ByteBuffer request(&nothing, 1), reply;
    std::promise<grpc::Status> ended;
    TsanHandoff handoff;
    handoff.Pass();
    stub.UnaryCall(&context, "/ringside.ParameterServer/Pull", {}, &request, &reply,
                   [&](const grpc::Status& status) {
                     handoff.Take();
                     ended.set_value(status);
                   });
    EXPECT_EQ(ended.get_future().get().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_F(TlsConnectionTest, TheTokenIsNeededToo) {
  PsCluster cluster = MakeCluster();
  const std::string token = cluster.comm().token;
  const auto worker = cluster.MakeWorker(0);
  CommOptions comm = cluster.comm();
  comm.token = "another token";
  const Schedule schedule({.base = 1.0});
  const StrategyContext context{.world = worker->world,
                                .store = cluster.store(),
                                .comm = comm,
                                .optimizer = *worker->optimizer,
                                .schedule = schedule,
                                .recorder = worker->recorder,
                                .timeline = worker->timeline,
                                .options = OverGrpc()};
  const auto stranger = kPsSyncEntry.make(context);
  EXPECT_THAT([&] { stranger->Start(worker->space, worker->plan, {}); },
              ThrowsMessage<CommError>(HasSubstr("token")));
}

// The server gets a certificate of another authority, and a worker that trusts that one alone then
// gets in. Connections that were open before carry the steps of the job on.
TEST_F(TlsConnectionTest, NewCertificatesInTheMiddleOfAJob) {
  PsCluster cluster = MakeCluster(2);
  const TestCertificates newcomer;
  cluster.Run([&](TestWorker& worker) {
    worker.FillGradients(1);
    worker.Step(0);
    if (worker.world.rank == 0) {
      EXPECT_THROW(Probe(cluster, newcomer), CertificateError);
      certificates_.Trust(certificates_.authority().certificate + newcomer.authority().certificate);
      certificates_.Renew(newcomer.authority());
      RepeatUntil([&] {
        try {
          Probe(cluster, newcomer);
          return true;
        } catch (const Error&) {
          return false;
        }
      });
    }
    for (int step = 1; step < 4; ++step) worker.Step(step);
    for (const float value : worker.space.params()) ASSERT_EQ(value, -8.0F);
  });
}

/// A connection that has said this.
FileDescriptor Saying(const std::string& endpoint, std::string_view bytes) {
  const Deadline deadline = Deadline::After(kPatience);
  FileDescriptor socket(ConnectTcp(endpoint, deadline));
  EXPECT_TRUE(SendAll(socket.get(), std::as_bytes(std::span(bytes)), deadline));
  return socket;
}

/// Whether the server closes the connection by then.
bool IsClosedBy(const FileDescriptor& socket, const Deadline& deadline) {
  std::byte byte{};
  while (ReceiveAll(socket.get(), {&byte, 1}, deadline)) {
  }
  return !deadline.expired();
}

bool IsOpen(const FileDescriptor& socket) {
  pollfd entry{.fd = socket.get(), .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 0;
}

constexpr std::string_view kBeginOfHello = "\x16\x03";  // of the message that begins a handshake

// The first two do not get as far as gRPC.
TEST_F(TlsConnectionTest, AClientThatDoesNotFinishTheHandshakeIsClosed) {
  PsCluster cluster = MakeCluster();
  const Deadline deadline = Deadline::After(kPatience);
  std::vector<FileDescriptor> strangers;
  for (const std::string_view said : {std::string_view(), kBeginOfHello.substr(0, 1), kBeginOfHello,
                                      std::string_view("\x16\x03\x01\x02", 4)}) {
    strangers.push_back(Saying(cluster.endpoint(0), said));
  }
  for (const FileDescriptor& stranger : strangers) EXPECT_TRUE(IsClosedBy(stranger, deadline));
}

// The strangers stay until the time of their handshakes is over.
TEST_F(TlsConnectionTest, StrangersAreCappedAndWorkersServed) {
  constexpr std::size_t kTooMany = 8;
  std::optional<FewDescriptors> few(64);  // the cap is then that of workers
  PsCluster cluster = MakeCluster(2);
  few.reset();
  cluster.Run([&](TestWorker& worker) {
    worker.FillGradients(1);
    worker.Step(0);
    if (worker.world.rank == 0) {
      std::vector<FileDescriptor> strangers;
      for (std::size_t i = 0; i < MostConnections(2) + kTooMany; ++i) {
        strangers.push_back(Saying(cluster.endpoint(0), kBeginOfHello));
      }
      EXPECT_TRUE(IsClosedBy(strangers.back(), Deadline::After(kPatience)));
      EXPECT_TRUE(IsOpen(strangers.front())) << "the last one is closed for its number alone";
    }
    for (int step = 1; step < 4; ++step) worker.Step(step);
    for (const float value : worker.space.params()) ASSERT_EQ(value, -8.0F);
  });
}

// It closes a connection that does not begin with the greeting of a worker.
TEST_F(TlsConnectionTest, AServerWithoutTlsIsSuspected) {
  PsCluster plain({.workers = 1, .strategy = OverGrpc()});
  EXPECT_THAT([&] { Probe(plain, certificates_); },
              ThrowsMessage<CommError>(HasSubstr("or it serves without TLS")));
}

}  // namespace
}  // namespace ringside
