// Times one sum over all ranks with Gloo alone. A peer of `ringside bench --peers`.
// usage: peer-gloo ring|ring-chunked|halving-doubling RANKS WARMUP ITERATIONS SIZE...
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/peers/forked_ranks.h"
#include "benchmarks/peers/peer_times.h"

namespace ringside {
namespace {

void Add(void* out, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<float*>(out)[i] = static_cast<const float*>(a)[i] + static_cast<const float*>(b)[i];
  }
}

/// Makes an operation that is bound to the vector, as Gloo's older algorithms are.
std::function<void()> MakeOperation(const std::string& algorithm,
                                    const std::shared_ptr<gloo::Context>& context,
                                    std::vector<float>& data) {
  const std::vector<float*> pointers{data.data()};
  const int count = static_cast<int>(data.size());
  if (algorithm == "ring-chunked") {
    const auto bound =
        std::make_shared<gloo::AllreduceRingChunked<float>>(context, pointers, count);
    return [bound] { bound->run(); };
  }
  if (algorithm == "halving-doubling") {
    const auto bound =
        std::make_shared<gloo::AllreduceHalvingDoubling<float>>(context, pointers, count);
    return [bound] { bound->run(); };
  }
  return [context, &data] {
    gloo::AllreduceOptions options(context);
    options.setOutput(data.data(), data.size());
    options.setReduceFunction(Add);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    gloo::allreduce(options);
  };
}

void Measure(const std::string& algorithm, int rank, int ranks, const std::string& directory,
             const PeerPlan& plan, ForkedRanks& all) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(directory);
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  for (const std::size_t size : plan.sizes) {
    std::vector<float> data(size / sizeof(float), 0.0F);
    const auto operation = MakeOperation(algorithm, context, data);
    all.Barrier();
    const PeerResult result = PeerTimes(
        plan, [&](auto values) { all.Slowest(values); }, operation);
    all.Print(size, result);  // also a barrier: no rank frees memory that another still writes to
  }
}

int Main(int argc, char** argv) {
  const PeerPlan plan = ReadPeerPlan(argc - 3, argv + 3);
  if (plan.sizes.empty()) return 2;
  std::string pattern = (std::filesystem::temp_directory_path() / "peer-gloo-XXXXXX").string();
  const std::filesystem::path directory = ::mkdtemp(pattern.data());
  const int ranks = std::atoi(argv[2]);
  ForkedRanks all(ranks, plan.iterations);
  const int rank = all.Fork();
  Measure(argv[1], rank, ranks, directory.string(), plan, all);
  const bool well = all.Join();
  std::filesystem::remove_all(directory);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    return ringside::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer-gloo: %s\n", error.what());
    return 1;
  }
}
