#ifndef RINGSIDE_RING_SHM_SPACES_H_
#define RINGSIDE_RING_SHM_SPACES_H_

#include <span>
#include <vector>

#include "common/flat_space.h"
#include "ring/collective.h"

namespace ringside {

/// The flat vectors of all workers of a host, mapped into this process. Thread safety: immutable.
class ShmSpaces {
 public:
  /// Of nobody.
  ShmSpaces() = default;
  /// Collective over the `ranks` of the host. Of nobody, unless the vectors of all lie in shared
  /// memory and are equally long. `own` outlives this. Throws `CommError` when another's cannot be
  /// reached.
  ShmSpaces(Collective& collective, int rank, int ranks, const FlatSpace& own);

  bool empty() const { return origins_.empty(); }
  /// Whether `data` lies in this rank's vectors, and those of the others are here too.
  bool Hold(std::span<const float> data) const;
  /// Fills `vectors`, one a rank: where the elements that `data` are of this rank, which holds
  /// them, lie of that rank.
  void Locate(std::span<const float> data, std::span<float*> vectors) const;

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

#endif  // RINGSIDE_RING_SHM_SPACES_H_
