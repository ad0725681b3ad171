#include "ringside/common/core/flat_space.h"

#include <utility>

namespace ringside {
namespace {

// With a gap of two pages, equal indices of both vectors would lie in the same cache sets. Adding
// 64 bytes avoids that.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kSkew = 64;

std::size_t StrideBytes(std::size_t elements) {
  const std::size_t bytes = elements * sizeof(float);
  return (bytes + kPage - 1) / kPage * kPage + kSkew;
}

}  // namespace

FlatSpace::FlatSpace(std::size_t elements)
    : FlatSpace(elements, MemoryKind::kOrdinary,
                MemoryRegion::Ordinary(2 * StrideBytes(elements))) {}

FlatSpace::FlatSpace(std::size_t elements, const std::string& label)
    : FlatSpace(elements, MemoryKind::kShared,
                MemoryRegion::CreateShared(label, 2 * StrideBytes(elements))) {}

FlatSpace FlatSpace::Attach(std::size_t elements, const std::string& shared_handle) {
  return {elements, MemoryKind::kShared,
          MemoryRegion::AttachShared(shared_handle, 2 * StrideBytes(elements))};
}

FlatSpace::FlatSpace(std::size_t elements, MemoryKind kind, MemoryRegion region)
    : elements_(elements),
      stride_bytes_(StrideBytes(elements)),
      kind_(kind),
      region_(std::move(region)) {}

void FlatSpace::Share(const std::string& label) {
  region_.Share(label);
  kind_ = MemoryKind::kShared;
}

float* FlatSpace::Floats(std::size_t offset_bytes) const {
  return reinterpret_cast<float*>(region_.data() + offset_bytes);
}

}  // namespace ringside
