#ifndef RINGSIDE_PARAMSERVER_WIRE_CHECKSUM_H_
#define RINGSIDE_PARAMSERVER_WIRE_CHECKSUM_H_

#include <cstdint>
#include <span>

#include "ringside/common/strategy/option.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

inline constexpr SwitchOption kCheckPushes{
    .name = "check-pushes",
    .help =
        "parameter servers: every push carries a checksum, and a push that arrives changed is "
        "refused",
    .written_only_if_set = true};

/// The checksum of a frame: the low 32 bits of the XXH3 hash (64 bits) of `payload`, whose seed is
/// the XXH3 hash of the encoded header without a checksum.
std::uint32_t ChecksumOf(FrameHeader header, std::span<const Piece> payload);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_CHECKSUM_H_
