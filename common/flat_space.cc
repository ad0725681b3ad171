#include "common/flat_space.h"

namespace ringside {
namespace {

// Two pages apart would put equal indices of both vectors in the same cache sets; 64 bytes more
// avoids that.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kSkew = 64;

std::size_t StrideBytes(std::size_t elements) {
  const std::size_t bytes = elements * sizeof(float);
  return (bytes + kPage - 1) / kPage * kPage + kSkew;
}

}  // namespace

FlatSpace::FlatSpace(std::size_t elements)
    : elements_(elements),
      stride_bytes_(StrideBytes(elements)),
      kind_(MemoryKind::kOrdinary),
      region_(MemoryRegion::Ordinary(2 * stride_bytes_)) {}

FlatSpace::FlatSpace(std::size_t elements, const std::string& shared_name)
    : elements_(elements),
      stride_bytes_(StrideBytes(elements)),
      kind_(MemoryKind::kShared),
      region_(MemoryRegion::CreateShared(shared_name, 2 * stride_bytes_)) {}

float* FlatSpace::Floats(std::size_t offset_bytes) const {
  return reinterpret_cast<float*>(region_.data() + offset_bytes);
}

}  // namespace ringside
