// A stand-in for libringside_cuda_math.so, over the stand-in for CUDA: the same sums and products,
// on the CPU, in device memory. Each call puts one operation on the stream.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/finite.h"
#include "ringside/models/cuda/math/device_math.h"
#include "tests/gpu/device_memory.h"

namespace ringside {
namespace {

/// Where an array on the GPU really is.
template <typename T>
T* Real(T* device, std::size_t size) {
  if (size == 0) return nullptr;
  void* real = RingsideDeviceBytes(device, size * sizeof(T));
  if (real == nullptr) throw DeviceMathError("stand-in: an argument is not in device memory");
  return static_cast<T*>(real);
}

void KeepLargest(std::uint32_t bits, std::uint32_t* largest) {
  *largest = std::max(*largest, bits);
}

}  // namespace

struct DeviceMath::State {
  cudaStream_t stream = nullptr;

  void Enqueue(std::function<void()> work) const {
    auto* kept = new std::function<void()>(std::move(work));
    const cudaError_t code = cudaLaunchHostFunc(
        stream,
        [](void* data) {
          auto* function = static_cast<std::function<void()>*>(data);
          (*function)();
          delete function;
        },
        kept);
    if (code != cudaSuccess) throw DeviceMathError(cudaGetErrorString(code));
  }
};

DeviceMath::DeviceMath(cudaStream_t stream) : state_(new State{stream}) {}
DeviceMath::~DeviceMath() { delete state_; }

void DeviceMath::Linear(const Shape& s, const float* x, const float* w, const float* b, float* y,
                        bool relu) {
  x = Real(x, s.samples * s.inputs);
  w = Real(w, s.outputs * s.inputs);
  b = Real(b, s.outputs);
  y = Real(y, s.samples * s.outputs);
  state_->Enqueue([=] {
    for (std::size_t n = 0; n < s.samples; ++n) {
      for (std::size_t o = 0; o < s.outputs; ++o) {
        float sum = b[o];
        for (std::size_t i = 0; i < s.inputs; ++i) sum += x[n * s.inputs + i] * w[o * s.inputs + i];
        y[n * s.outputs + o] = relu ? std::max(sum, 0.0F) : sum;
      }
    }
  });
}

void DeviceMath::LinearGradients(const Shape& s, const float* x, const float* dy, const float* ones,
                                 float* dw, float* db) {
  x = Real(x, s.samples * s.inputs);
  dy = Real(dy, s.samples * s.outputs);
  ones = Real(ones, s.samples);
  dw = Real(dw, s.outputs * s.inputs);
  db = Real(db, s.outputs);
  state_->Enqueue([=] {
    std::fill_n(dw, s.outputs * s.inputs, 0.0F);
    std::fill_n(db, s.outputs, 0.0F);
    for (std::size_t n = 0; n < s.samples; ++n) {
      for (std::size_t o = 0; o < s.outputs; ++o) {
        const float gradient = dy[n * s.outputs + o];
        db[o] += gradient * ones[n];
        for (std::size_t i = 0; i < s.inputs; ++i) {
          dw[o * s.inputs + i] += gradient * x[n * s.inputs + i];
        }
      }
    }
  });
}

void DeviceMath::LinearInputGradient(const Shape& s, const float* dy, const float* w,
                                     const float* x, float* dx, bool relu) {
  dy = Real(dy, s.samples * s.outputs);
  w = Real(w, s.outputs * s.inputs);
  x = Real(x, s.samples * s.inputs);
  dx = Real(dx, s.samples * s.inputs);
  state_->Enqueue([=] {
    // Long enough for a strategy that has got the bucket of these weights too early to change them.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (std::size_t n = 0; n < s.samples; ++n) {
      for (std::size_t i = 0; i < s.inputs; ++i) {
        float sum = 0;
        for (std::size_t o = 0; o < s.outputs; ++o) {
          sum += dy[n * s.outputs + o] * w[o * s.inputs + i];
        }
        dx[n * s.inputs + i] = relu && !(x[n * s.inputs + i] > 0) ? 0 : sum;
      }
    }
  });
}

void DeviceMath::CrossEntropy(std::size_t samples, std::size_t classes, const float* logits,
                              const std::int64_t* labels, float scale, float* losses,
                              std::int32_t* hits, float* gradient) {
  logits = Real(logits, samples * classes);
  labels = Real(labels, samples);
  losses = Real(losses, samples);
  if (hits != nullptr) hits = Real(hits, samples);
  if (gradient != nullptr) gradient = Real(gradient, samples * classes);
  state_->Enqueue([=] {
    for (std::size_t n = 0; n < samples; ++n) {
      const float* row = logits + n * classes;
      const auto label = static_cast<std::size_t>(labels[n]);
      const float* largest = std::max_element(row, row + classes);
      float sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sum += std::exp(row[c] - *largest);
      losses[n] = std::log(sum) - (row[label] - *largest);
      if (hits != nullptr) hits[n] = largest == row + label ? 1 : 0;
      if (gradient == nullptr) continue;
      for (std::size_t c = 0; c < classes; ++c) {
        const float probability = std::exp(row[c] - *largest) / sum;
        gradient[n * classes + c] = scale * (probability - (c == label ? 1.0F : 0.0F));
      }
    }
  });
}

void DeviceMath::Sum(std::size_t samples, const float* losses, const std::int32_t* hits,
                     double* loss, std::int64_t* hit_count) {
  losses = Real(losses, samples);
  if (hits != nullptr) hits = Real(hits, samples);
  loss = Real(loss, 1);
  if (hit_count != nullptr) hit_count = Real(hit_count, 1);
  state_->Enqueue([=] {
    *loss = 0;
    for (std::size_t n = 0; n < samples; ++n) *loss += losses[n];
    if (hits == nullptr) return;
    *hit_count = 0;
    for (std::size_t n = 0; n < samples; ++n) *hit_count += hits[n];
  });
}

void DeviceMath::Fill(float* values, std::size_t size, float value) {
  values = Real(values, size);
  state_->Enqueue([=] { std::fill_n(values, size, value); });
}

void DeviceMath::Sgd(float* params, const float* grads, float* velocity, std::size_t size,
                     const SgdScalars& s, std::uint32_t* largest) {
  params = Real(params, size);
  grads = Real(grads, size);
  if (velocity != nullptr) velocity = Real(velocity, size);
  largest = Real(largest, 1);
  state_->Enqueue([=] {
    for (std::size_t i = 0; i < size; ++i) {
      KeepLargest(MagnitudeBits(grads[i]), largest);
      if (!std::isfinite(grads[i])) continue;
      const float d = s.scale * grads[i] + s.weight_decay * params[i];
      float change = d;
      if (velocity != nullptr) {
        velocity[i] = s.momentum * velocity[i] + d;
        change = s.nesterov ? d + s.momentum * velocity[i] : velocity[i];
      }
      params[i] -= s.rate * change;
    }
  });
}

void DeviceMath::Adam(float* params, const float* grads, float* first, float* second,
                      std::size_t size, const AdamScalars& s, std::uint32_t* largest) {
  params = Real(params, size);
  grads = Real(grads, size);
  first = Real(first, size);
  second = Real(second, size);
  largest = Real(largest, 1);
  state_->Enqueue([=] {
    for (std::size_t i = 0; i < size; ++i) {
      KeepLargest(MagnitudeBits(grads[i]), largest);
      if (!std::isfinite(grads[i])) continue;
      const float g = s.scale * grads[i] + s.l2 * params[i];
      first[i] = s.beta1 * first[i] + s.one_minus_beta1 * g;
      second[i] = s.beta2 * second[i] + s.one_minus_beta2 * g * g;
      const float denominator = std::sqrt(second[i]) / s.root_correction + s.epsilon;
      params[i] = params[i] * s.shrink - s.step_size * (first[i] / denominator);
    }
  });
}

void DeviceMath::LargestMagnitude(const float* values, std::size_t size, std::uint32_t* largest) {
  values = Real(values, size);
  largest = Real(largest, 1);
  state_->Enqueue([=] {
    for (std::size_t i = 0; i < size; ++i) KeepLargest(MagnitudeBits(values[i]), largest);
  });
}

}  // namespace ringside
