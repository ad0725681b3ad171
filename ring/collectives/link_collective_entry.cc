#include "ringside/ring/collectives/link_collective_entry.h"

#include <memory>
#include <string>

#include "ringside/ring/transports/gloo_collective.h"

namespace ringside {

CollectiveEntry LinkCollectiveEntry(const LinkAlgorithm& algorithm) {
  const auto make = [used = &algorithm](const CollectiveContext& context) {
    auto sum = std::make_unique<GlooCollective>(context.world, context.store, context.comm, *used,
                                                context.prefix);
    sum->RecordTo(context.timeline);
    return sum;
  };
  return {.name = std::string(algorithm.name),
          .summary = std::string(algorithm.summary),
          .topology = algorithm.topology,
          .make = make,
          .make_encoded =
              [make](const CollectiveContext& context, const EncodedCollectiveFactory& encode) {
                return encode(make(context));
              },
          .why_not_encoded = [used = &algorithm](
                                 const CodecOptions& codec) { return WhyNotEncoded(*used, codec); },
          .bound = algorithm.bound,
          .traffic = algorithm.traffic};
}

}  // namespace ringside
