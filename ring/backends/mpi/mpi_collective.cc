// Steps and bytes of `MPI_Allreduce` are the library's choice. The barrier before it is one step of
// N-1 empty messages a rank.
#include "ringside/ring/backends/mpi/mpi_collective.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/measure/activity.h"
#include "ringside/ring/backends/backend_library.h"

namespace ringside {
namespace {

/// Most elements, or bytes, of one call: MPI's count is an int.
constexpr std::size_t kMaxCount = std::size_t{1} << 30;

/// Polls before it yields: a rank that is almost here is noticed soonest without a system call.
constexpr int kPollsBeforeYield = 1000;

/// How long a rank waits for others without sleep, and then for how long it sleeps between two
/// polls.
constexpr std::chrono::milliseconds kSpin{20};
constexpr std::chrono::microseconds kNap{100};

std::string MpiErrorText(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "unknown MPI error";
  return {text.data(), static_cast<std::size_t>(length)};
}

/// An MPI call that returned an error.
class MpiError : public Error {
 public:
  explicit MpiError(int code) : Error(MpiErrorText(code)) {}
};

void Check(int code) {
  if (code != MPI_SUCCESS) throw MpiError(code);
}

/// A peer whose message did not come in time.
struct BarrierTimeout {
  int rank;
};

/// MPI's state in this process: it can be initialised once, and not again after it was finalised.
/// So a process has one of these.
class MpiProcess {
 public:
  static MpiProcess& Get() {
    static MpiProcess process;
    return process;
  }

  void Begin() { ++open_; }
  /// No rank ended it without the others.
  void EndTogether() { --open_; }

 private:
  MpiProcess() {
    int provided = MPI_THREAD_SINGLE;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (code != MPI_SUCCESS) throw CommError("mpirun", "the start of MPI", MpiErrorText(code));
    if (provided < MPI_THREAD_SERIALIZED) {
      throw MissingBackendError("this MPI library lets no second thread call it");
    }
  }
  ~MpiProcess() {
    if (open_ == 0) MPI_Finalize();  // peers are there: it waits for them
  }

  int open_ = 0;  // collectives that have begun, and not ended with all ranks
};

}  // namespace

/// One communicator for the data, one for barriers, so that their messages are not confused.
class MpiCollective::Communicators {
 public:
  /// `board` may be null.
  Communicators(const World& world, ActivityBoard* board) : board_(board) {
    Check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    Check(MPI_Comm_dup(MPI_COMM_WORLD, &data_));
    Check(MPI_Comm_dup(MPI_COMM_WORLD, &barrier_));
    for (int rank = 0; rank < world.workers; ++rank) {
      if (rank == world.rank) continue;
      peers_.push_back(rank);
      Check(MPI_Recv_init(nullptr, 0, MPI_BYTE, rank, 0, barrier_, &arrivals_.emplace_back()));
    }
    for (const int peer : peers_) {
      Check(MPI_Send_init(nullptr, 0, MPI_BYTE, peer, 0, barrier_, &calls_.emplace_back()));
    }
  }

  MPI_Comm data() const { return data_; }

  /// Returns when every rank has called it. Throws `BarrierTimeout`.
  void Barrier(const Deadline& deadline) {
    if (peers_.empty()) return;  // MPI takes no empty list
    Start(arrivals_);
    Start(calls_);
    Await(arrivals_, deadline);
    Await(calls_, deadline);  // to ranks that were here: at once, unless one has died since
  }

  /// Collective: where not all ranks come to it they are left behind instead.
  void Free() {
    for (MPI_Request& request : arrivals_) MPI_Request_free(&request);
    for (MPI_Request& request : calls_) MPI_Request_free(&request);
    MPI_Comm_free(&data_);
    MPI_Comm_free(&barrier_);
  }

 private:
  using Requests = std::vector<MPI_Request>;

  static void Start(Requests& requests) {
    Check(MPI_Startall(static_cast<int>(requests.size()), requests.data()));
  }
  void Await(Requests& requests, const Deadline& deadline) {
    std::optional<ScopedPeer> missing;
    const Deadline spinning = Deadline::After(kSpin);
    for (int polls = 1; !AllDone(requests); ++polls) {
      if (polls < kPollsBeforeYield) continue;
      if (deadline.expired()) throw BarrierTimeout{FirstMissing(requests)};
      const bool naps = spinning.expired();
      // The one that is missing now need not have been the first one.
      if (naps || polls % kPollsBeforeYield == 0) {
        missing.emplace(board_, AwaitedPeer{AwaitedPeer::Way::kMeet, FirstMissing(requests)});
      }
      // A rank that is stopped must not cost the others the processor until it is lost.
      if (naps) {
        std::this_thread::sleep_for(kNap);
      } else {
        ::sched_yield();
      }
    }
  }
  static bool AllDone(Requests& requests) {
    int done = 0;
    Check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                      MPI_STATUSES_IGNORE));
    return done != 0;
  }
  int FirstMissing(Requests& requests) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      int here = 0;
      Check(MPI_Test(&requests[i], &here, MPI_STATUS_IGNORE));
      if (here == 0) return peers_[i];
    }
    return peers_.front();  // it came this very moment
  }

  ActivityBoard* const board_;
  MPI_Comm data_ = MPI_COMM_NULL;
  MPI_Comm barrier_ = MPI_COMM_NULL;
  std::vector<int> peers_;
  Requests arrivals_;  // by peer
  Requests calls_;     // likewise
};

MpiCollective::MpiCollective(const CollectiveContext& context)
    : world_(context.world), timeout_(context.comm.timeout) {
  MpiProcess::Get().Begin();
  RequireSameWorld();
  // All are here, and none needs to be waited for where MPI knows no deadline.
  StoreAllGather(context.store, world_, context.prefix + "/mpi", "",
                 Deadline::After(context.comm.rendezvous_timeout()));
  try {
    mpi_ = std::make_unique<Communicators>(world_, context.comm.activity);
  } catch (const MpiError& error) {
    Fail("another worker", Operation("the start of MPI"), error.what());
  }
}

MpiCollective::~MpiCollective() {
  if (!left_together_) return;
  mpi_->Free();
  MpiProcess::Get().EndTogether();
}

void MpiCollective::RequireSameWorld() const {
  int rank = 0;
  int workers = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &workers);
  if (rank == world_.rank && workers == world_.workers) return;
  throw ConfigError(fmt::format(
      "MPI takes this process for rank {} of {}, the job for worker {} of {}: start all workers by "
      "one mpirun",
      rank, workers, world_.rank, world_.workers));
}

void MpiCollective::AllReduceSum(const BucketMessage& message) {
  const std::span<float> data = message.data;
  Run({"all-reduce of", message}, [&] {
    for (std::size_t at = 0; at < data.size(); at += kMaxCount) {
      const auto part = data.subspan(at, std::min(kMaxCount, data.size() - at));
      Check(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_FLOAT,
                          MPI_SUM, mpi_->data()));
    }
    traffic_.sent += data.size_bytes();
    traffic_.received += data.size_bytes();
  });
}

void MpiCollective::Broadcast(std::span<std::byte> data, int root) {
  Run(Operation::WithWorker("broadcast from", root), [&] {
    for (std::size_t at = 0; at < data.size(); at += kMaxCount) {
      const auto part = data.subspan(at, std::min(kMaxCount, data.size() - at));
      Check(MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, root, mpi_->data()));
    }
    (world_.rank == root ? traffic_.sent : traffic_.received) += data.size();
  });
}

void MpiCollective::AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) {
  if (mine.size() > std::numeric_limits<int>::max()) {
    throw InternalError(fmt::format("all-gather of {} bytes a rank over MPI", mine.size()));
  }
  all.resize(mine.size() * static_cast<std::size_t>(world_.workers));
  const auto count = static_cast<int>(mine.size());
  Run(Operation("all-gather"), [&] {
    Check(MPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, mpi_->data()));
    traffic_.sent += mine.size();
    traffic_.received += all.size() - mine.size();
  });
  left_together_ = true;
}

template <typename Call>
void MpiCollective::Run(const Operation& operation, const Call& call) {
  failure_.Check();
  left_together_ = false;
  try {
    mpi_->Barrier(Deadline::After(timeout_));
    call();
  } catch (const BarrierTimeout& late) {
    Fail(fmt::format("worker {}", late.rank), operation,
         fmt::format("it did not come to it within {} ms", timeout_.count()));
  } catch (const MpiError& error) {
    Fail("another worker", operation, error.what());
  }
}

void MpiCollective::Fail(const std::string& peer, const Operation& operation,
                         const std::string& reason) {
  const CommError failure(peer, operation.Text(), reason);
  failure_.Set(failure);
  throw failure;
}

namespace {

// This library was loaded, and with it MPI: all else is the launcher's to check.
std::string Unavailable() { return {}; }

std::unique_ptr<Collective> Make(const CollectiveContext& context) {
  return std::make_unique<MpiCollective>(context);
}

constexpr CollectiveBackend kBackend{.unavailable = Unavailable, .make = Make};

}  // namespace
}  // namespace ringside

// NOLINTNEXTLINE(readability-identifier-naming): an exported C function
extern "C" __attribute__((visibility("default"))) const char* ringside_backend_version() {
  return ringside::BackendVersion();
}

extern "C" __attribute__((visibility("default"))) const ringside::CollectiveBackend*
ringside_collective_backend() {
  return &ringside::kBackend;
}
