#include "benchmarks/peers/bytes_push_pull.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ringside/benchmarks/peers/bytes_push_pull.grpc.pb.h"

namespace ringside {
namespace {

constexpr int kMaxMessage = 1 << 30;

struct BucketState {
  std::vector<float> sum, parameters;
  std::vector<std::pair<grpc::ServerUnaryReactor*, peer::Bucket*>> waiting;
  std::mutex mutex;
};

class Service : public peer::BytesPushPull::CallbackService {
 public:
  Service(int workers, std::size_t elements, std::size_t bucket_elements) : workers_(workers) {
    for (std::size_t begin = 0; begin < elements; begin += bucket_elements) {
      BucketState& bucket = buckets_.emplace_back();
      bucket.sum.resize(std::min(bucket_elements, elements - begin));
      bucket.parameters = bucket.sum;
    }
  }

  grpc::ServerUnaryReactor* PushPull(grpc::CallbackServerContext* context,
                                     const peer::Bucket* request, peer::Bucket* reply) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    BucketState& bucket = buckets_[request->index()];
    const std::lock_guard lock(bucket.mutex);
    const auto* gradient = reinterpret_cast<const float*>(request->payload().data());
    for (std::size_t i = 0; i < bucket.sum.size(); ++i) bucket.sum[i] += gradient[i];
    bucket.waiting.emplace_back(reactor, reply);
    if (static_cast<int>(bucket.waiting.size()) == workers_) Close(bucket);
    return reactor;
  }

 private:
  static void Close(BucketState& bucket) {
    for (std::size_t i = 0; i < bucket.sum.size(); ++i) bucket.parameters[i] -= bucket.sum[i];
    std::fill(bucket.sum.begin(), bucket.sum.end(), 0.0F);
    for (const auto& [reactor, reply] : bucket.waiting) {
      reply->set_payload(bucket.parameters.data(), bucket.parameters.size() * sizeof(float));
      reactor->Finish(grpc::Status::OK);
    }
    bucket.waiting.clear();
  }

  int workers_;
  std::deque<BucketState> buckets_;
};

}  // namespace

class BytesServer::Impl {
 public:
  Impl(int workers, std::size_t elements, std::size_t bucket_elements)
      : service_(workers, elements, bucket_elements) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(kMaxMessage);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    endpoint_ = "127.0.0.1:" + std::to_string(port);
  }
  const std::string& endpoint() const { return endpoint_; }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
};

BytesServer::BytesServer(int workers, std::size_t elements, std::size_t bucket_elements)
    : impl_(std::make_unique<Impl>(workers, elements, bucket_elements)) {}
BytesServer::~BytesServer() = default;
const std::string& BytesServer::endpoint() const { return impl_->endpoint(); }

class BytesWorker::Impl {
 public:
  Impl(int rank, const std::string& endpoint) : rank_(rank) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxMessage);
    stub_ = peer::BytesPushPull::NewStub(
        grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments));
  }

  void Step(std::span<const float> gradients, std::span<float> parameters,
            std::size_t bucket_elements) {
    struct Call {
      grpc::ClientContext context;
      peer::Bucket request, reply;
    };
    std::deque<Call> calls;
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t under_way = (gradients.size() + bucket_elements - 1) / bucket_elements;
    bool failed = false;
    for (std::size_t begin = 0; begin < gradients.size(); begin += bucket_elements) {
      const std::size_t size = std::min(bucket_elements, gradients.size() - begin);
      Call& call = calls.emplace_back();
      call.request.set_worker(static_cast<std::uint32_t>(rank_));
      call.request.set_index(static_cast<std::uint32_t>(begin / bucket_elements));
      call.request.set_payload(gradients.data() + begin, size * sizeof(float));
      stub_->async()->PushPull(
          &call.context, &call.request, &call.reply, [&, begin, size](const grpc::Status& status) {
            const bool good = status.ok() && call.reply.payload().size() == size * sizeof(float);
            if (good) {
              std::memcpy(parameters.data() + begin, call.reply.payload().data(),
                          size * sizeof(float));
            }
            const std::lock_guard lock(mutex);
            failed = failed || !good;
            --under_way;
            changed.notify_all();
          });
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return under_way == 0; });
    if (failed) throw std::runtime_error("a call to the bytes service failed");
  }

 private:
  int rank_;
  std::unique_ptr<peer::BytesPushPull::Stub> stub_;
};

BytesWorker::BytesWorker(int rank, const std::string& endpoint)
    : impl_(std::make_unique<Impl>(rank, endpoint)) {}
BytesWorker::~BytesWorker() = default;
void BytesWorker::Step(std::span<const float> gradients, std::span<float> parameters,
                       std::size_t bucket_elements) {
  impl_->Step(gradients, parameters, bucket_elements);
}

}  // namespace ringside
