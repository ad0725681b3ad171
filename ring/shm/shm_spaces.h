#ifndef RINGSIDE_RING_SHM_SHM_SPACES_H_
#define RINGSIDE_RING_SHM_SHM_SPACES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/flat_vector.h"
#include "ringside/ring/core/bucket_message.h"
#include "ringside/ring/core/collective.h"

namespace ringside {

/// A range of elements: [begin, end).
struct CacheAlignedChunk {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Returns chunk `index` of the `chunks` nearly equal chunks of `data`. Chunks end at the ends of
/// cache lines, so no two ranks write to one line. Vectors whose addresses differ by whole lines
/// have the same chunks.
CacheAlignedChunk ChunkOf(std::span<const float> data, int chunks, int index);

/// The flat vectors of all workers of a host, mapped into this process. Thread safety: immutable.
class ShmSpaces {
 public:
  /// Makes an empty one.
  ShmSpaces() = default;
  /// Collective over the host's `ranks`. Stays empty unless the vectors of all ranks are in shared
  /// memory and have the same length. `own` must live longer than this. Throws `CommError` when the
  /// vectors of another rank cannot be mapped.
  ShmSpaces(Collective& collective, int rank, int ranks, const FlatSpace& own);

  bool empty() const { return origins_.empty(); }
  /// Whether the message lies in a vector and those of the other ranks are mapped. Throws
  /// `InternalError` when its data are not where it says.
  bool Contains(const BucketMessage& message) const;
  /// Fills `addresses`: for each rank, where element `offset` of its vector lies. The vector is not
  /// `kNone`.
  void Locate(FlatVector vector, std::size_t offset, std::span<float*> addresses) const;

 private:
  struct Origins {
    float* params;
    float* grads;
  };

  const FlatSpace* own_ = nullptr;
  std::vector<FlatSpace> guests_;  // of the other ranks
  std::vector<Origins> origins_;   // by rank
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SHM_SPACES_H_
