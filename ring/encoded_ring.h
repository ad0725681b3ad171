#ifndef RINGSIDE_RING_ENCODED_RING_H_
#define RINGSIDE_RING_ENCODED_RING_H_

#include <cstddef>
#include <span>
#include <vector>

#include "common/codec/codec.h"
#include "ring/links.h"

namespace ringside {

/// In place sum over all ranks on a ring whose segments travel encoded: reduce-scatter, where a
/// rank decodes what comes onto its own floats and encodes the partial sum for the next, then
/// all-gather, where the encoded sums are passed on as they are: all ranks decode the same bytes.
/// Each rank encodes each element exactly once, so error feedback works as in any other place.
///
/// Sends and receives 2(N-1)/N of the encoded data. `world` >= 2. An encoded float takes a byte or
/// more. `place` is that of data[0]; `wire` is scratch space that later calls use again. Throws
/// `CommError` that names the peer, also for bytes that no codec wrote.
void EncodedRingAllReduce(Links& links, int rank, int world, std::span<float> data, Codec& codec,
                          const CodecPlace& place, std::vector<std::byte>& wire);

}  // namespace ringside

#endif  // RINGSIDE_RING_ENCODED_RING_H_
