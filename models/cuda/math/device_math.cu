// Matrix products by cuBLAS, in fp32 without TF32 (cuBLAS's default). Everything else by kernels of
// one pass over memory. A row-major matrix is the transposed column-major one, which cuBLAS wants.
#include "ringside/models/cuda/math/device_math.h"

#include <cublas_v2.h>

#include <utility>

namespace ringside {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr std::uint32_t kInfinityBits = 0x7f800000;  // common/base/finite.h

void Check(cudaError_t code) {
  if (code != cudaSuccess) throw DeviceMathError(std::string("GPU: ") + cudaGetErrorString(code));
}
void Check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceMathError(std::string("GPU: cuBLAS: ") + cublasGetStatusString(status));
  }
}

__device__ std::uint32_t MagnitudeBits(float value) { return __float_as_uint(value) & 0x7fffffffU; }

/// The largest of a warp goes to `largest`, if it is larger than what others left there.
__device__ void KeepLargest(std::uint32_t bits, std::uint32_t* largest) {
  for (int other = kWarp / 2; other > 0; other /= 2) {
    bits = max(bits, __shfl_xor_sync(0xffffffffU, bits, other));
  }
  if (threadIdx.x % kWarp == 0) atomicMax(largest, bits);
}

__global__ void AddBias(float* y, const float* b, std::size_t size, std::size_t outputs,
                        bool relu) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const float value = y[i] + b[i % outputs];
    y[i] = relu && !(value > 0) ? 0.0F : value;
  }
}

__global__ void MaskByInput(float* dx, const float* x, std::size_t size) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    if (!(x[i] > 0)) dx[i] = 0;
  }
}

/// One warp a sample.
__global__ void SoftmaxCrossEntropy(std::size_t samples, std::size_t classes, const float* logits,
                                    const std::int64_t* labels, float scale, float* losses,
                                    std::int32_t* hits, float* gradient) {
  const std::size_t sample = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  if (sample >= samples) return;
  const float* row = logits + sample * classes;
  float largest = -INFINITY;
  std::size_t at = classes;
  for (std::size_t c = lane; c < classes; c += kWarp) {
    if (row[c] > largest || at == classes) {
      largest = row[c];
      at = c;
    }
  }
  for (int other = kWarp / 2; other > 0; other /= 2) {
    const float theirs = __shfl_xor_sync(0xffffffffU, largest, other);
    const std::size_t place = __shfl_xor_sync(0xffffffffU, at, other);
    if (theirs > largest || (theirs == largest && place < at)) {
      largest = theirs;
      at = place;
    }
  }
  float sum = 0;
  for (std::size_t c = lane; c < classes; c += kWarp) sum += expf(row[c] - largest);
  for (int other = kWarp / 2; other > 0; other /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, other);
  }
  const auto label = static_cast<std::size_t>(labels[sample]);
  if (lane == 0) {
    losses[sample] = logf(sum) - (row[label] - largest);
    if (hits != nullptr) hits[sample] = at == label ? 1 : 0;
  }
  if (gradient == nullptr) return;
  for (std::size_t c = lane; c < classes; c += kWarp) {
    const float probability = expf(row[c] - largest) / sum;
    gradient[sample * classes + c] = scale * (probability - (c == label ? 1.0F : 0.0F));
  }
}

/// One block. Each thread adds its own part, then halves are added.
__global__ void SumAll(std::size_t samples, const float* losses, const std::int32_t* hits,
                       double* loss, std::int64_t* hit_count) {
  __shared__ double sums[kThreads];
  __shared__ std::int64_t counts[kThreads];
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = threadIdx.x; i < samples; i += kThreads) {
    sum += losses[i];
    if (hits != nullptr) count += hits[i];
  }
  sums[threadIdx.x] = sum;
  counts[threadIdx.x] = count;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      counts[threadIdx.x] += counts[threadIdx.x + half];
    }
  }
  if (threadIdx.x != 0) return;
  *loss = sums[0];
  if (hits != nullptr) *hit_count = counts[0];
}

__global__ void FillWith(float* values, std::size_t size, float value) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    values[i] = value;
  }
}

// All threads of a warp take the same number of rounds, since they compare in the end.
__global__ void SgdStep(float* params, const float* grads, float* velocity, std::size_t size,
                        DeviceMath::SgdScalars s, std::uint32_t* largest) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::uint32_t most = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    most = max(most, bits);
    if (bits >= kInfinityBits) continue;
    const float p = params[i];
    // As the host does: a product and a sum, each rounded.
    const float d = __fadd_rn(__fmul_rn(s.scale, grads[i]), __fmul_rn(s.weight_decay, p));
    float change = d;
    if (velocity != nullptr) {
      const float v = __fadd_rn(__fmul_rn(s.momentum, velocity[i]), d);
      velocity[i] = v;
      change = s.nesterov ? __fadd_rn(d, __fmul_rn(s.momentum, v)) : v;
    }
    params[i] = __fsub_rn(p, __fmul_rn(s.rate, change));
  }
  __syncwarp();
  KeepLargest(most, largest);
}

__global__ void AdamStep(float* params, const float* grads, float* first, float* second,
                         std::size_t size, AdamScalars s, std::uint32_t* largest) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::uint32_t most = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    most = max(most, bits);
    if (bits >= kInfinityBits) continue;
    const float p = params[i];
    const float g = __fadd_rn(__fmul_rn(s.scale, grads[i]), __fmul_rn(s.l2, p));
    const float m = __fadd_rn(__fmul_rn(s.beta1, first[i]), __fmul_rn(s.one_minus_beta1, g));
    const float v =
        __fadd_rn(__fmul_rn(s.beta2, second[i]), __fmul_rn(__fmul_rn(s.one_minus_beta2, g), g));
    first[i] = m;
    second[i] = v;
    const float denominator = __fadd_rn(__fsqrt_rn(v) / s.root_correction, s.epsilon);
    params[i] = __fsub_rn(__fmul_rn(p, s.shrink), __fmul_rn(s.step_size, m / denominator));
  }
  __syncwarp();
  KeepLargest(most, largest);
}

__global__ void FindLargest(const float* values, std::size_t size, std::uint32_t* largest) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::uint32_t most = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    most = max(most, MagnitudeBits(values[i]));
  }
  __syncwarp();
  KeepLargest(most, largest);
}

/// Enough blocks to fill a GPU; the kernels' threads take several elements each.
unsigned BlocksFor(std::size_t threads) {
  constexpr std::size_t kMostBlocks = 2048;
  const std::size_t blocks = (threads + kThreads - 1) / kThreads;
  if (blocks == 0) return 1;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

int Int(std::size_t value) { return static_cast<int>(value); }

}  // namespace

struct DeviceMath::State {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
};

DeviceMath::DeviceMath(cudaStream_t stream) : state_(new State{stream, nullptr}) {
  try {
    Check(cublasCreate(&state_->blas));
    Check(cublasSetStream(state_->blas, stream));
  } catch (...) {
    delete state_;
    throw;
  }
}

DeviceMath::~DeviceMath() {
  cublasDestroy(state_->blas);  // nobody could do anything about an error
  delete state_;
}

void DeviceMath::Linear(const Shape& shape, const float* x, const float* w, const float* b,
                        float* y, bool relu) {
  const float one = 1;
  const float zero = 0;
  Check(cublasSgemm(state_->blas, CUBLAS_OP_T, CUBLAS_OP_N, Int(shape.outputs), Int(shape.samples),
                    Int(shape.inputs), &one, w, Int(shape.inputs), x, Int(shape.inputs), &zero, y,
                    Int(shape.outputs)));
  const std::size_t size = shape.samples * shape.outputs;
  AddBias<<<BlocksFor(size), kThreads, 0, state_->stream>>>(y, b, size, shape.outputs, relu);
  Check(cudaGetLastError());
}

void DeviceMath::LinearGradients(const Shape& shape, const float* x, const float* dy,
                                 const float* ones, float* dw, float* db) {
  const float one = 1;
  const float zero = 0;
  Check(cublasSgemv(state_->blas, CUBLAS_OP_N, Int(shape.outputs), Int(shape.samples), &one, dy,
                    Int(shape.outputs), ones, 1, &zero, db, 1));
  Check(cublasSgemm(state_->blas, CUBLAS_OP_N, CUBLAS_OP_T, Int(shape.inputs), Int(shape.outputs),
                    Int(shape.samples), &one, x, Int(shape.inputs), dy, Int(shape.outputs), &zero,
                    dw, Int(shape.inputs)));
}

void DeviceMath::LinearInputGradient(const Shape& shape, const float* dy, const float* w,
                                     const float* x, float* dx, bool relu) {
  const float one = 1;
  const float zero = 0;
  Check(cublasSgemm(state_->blas, CUBLAS_OP_N, CUBLAS_OP_N, Int(shape.inputs), Int(shape.samples),
                    Int(shape.outputs), &one, w, Int(shape.inputs), dy, Int(shape.outputs), &zero,
                    dx, Int(shape.inputs)));
  if (!relu) return;
  const std::size_t size = shape.samples * shape.inputs;
  MaskByInput<<<BlocksFor(size), kThreads, 0, state_->stream>>>(dx, x, size);
  Check(cudaGetLastError());
}

void DeviceMath::CrossEntropy(std::size_t samples, std::size_t classes, const float* logits,
                              const std::int64_t* labels, float scale, float* losses,
                              std::int32_t* hits, float* gradient) {
  const std::size_t blocks = (samples * kWarp + kThreads - 1) / kThreads;
  SoftmaxCrossEntropy<<<static_cast<unsigned>(blocks), kThreads, 0, state_->stream>>>(
      samples, classes, logits, labels, scale, losses, hits, gradient);
  Check(cudaGetLastError());
}

void DeviceMath::Sum(std::size_t samples, const float* losses, const std::int32_t* hits,
                     double* loss, std::int64_t* hit_count) {
  SumAll<<<1, kThreads, 0, state_->stream>>>(samples, losses, hits, loss, hit_count);
  Check(cudaGetLastError());
}

void DeviceMath::Fill(float* values, std::size_t size, float value) {
  FillWith<<<BlocksFor(size), kThreads, 0, state_->stream>>>(values, size, value);
  Check(cudaGetLastError());
}

void DeviceMath::Sgd(float* params, const float* grads, float* velocity, std::size_t size,
                     const SgdScalars& scalars, std::uint32_t* largest) {
  SgdStep<<<BlocksFor(size), kThreads, 0, state_->stream>>>(params, grads, velocity, size, scalars,
                                                            largest);
  Check(cudaGetLastError());
}

void DeviceMath::Adam(float* params, const float* grads, float* first, float* second,
                      std::size_t size, const AdamScalars& scalars, std::uint32_t* largest) {
  AdamStep<<<BlocksFor(size), kThreads, 0, state_->stream>>>(params, grads, first, second, size,
                                                             scalars, largest);
  Check(cudaGetLastError());
}

void DeviceMath::LargestMagnitude(const float* values, std::size_t size, std::uint32_t* largest) {
  FindLargest<<<BlocksFor(size), kThreads, 0, state_->stream>>>(values, size, largest);
  Check(cudaGetLastError());
}

}  // namespace ringside
