#ifndef RINGSIDE_TESTS_RING_COLLECTIVES_CODEC_COLLECTIVE_TESTING_H_
#define RINGSIDE_TESTS_RING_COLLECTIVES_CODEC_COLLECTIVE_TESTING_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/codec/codec_options.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/ring/collectives/codec_collective.h"
#include "ringside/ring/collectives/collective_table.h"

namespace ringside {

CommOptions TestComm();

StrategyOptions CodecOptionsOf(const std::string& codec,
                               ErrorFeedback feedback = ErrorFeedback::kAuto);

/// The entry of the collective `ring`.
CollectiveEntry RingEntry();

/// The values that a rank sums.
struct CodecMember {
  explicit CodecMember(std::size_t elements, MemoryKind memory = MemoryKind::kOrdinary)
      : plan(std::vector<TensorSpec>{{"a", elements / 3}, {"b", elements - elements / 3}},
             {.target_bytes = 128 << 10, .first_bytes = 1 << 10}),
        space(memory == MemoryKind::kShared ? FlatSpace(elements, "test") : FlatSpace(elements)) {}

  BucketMessage Message(int bucket, std::int64_t step) const {
    const BucketPlan::Range& range = plan.range(bucket);
    return {space.grads().subspan(range.begin, range.size()), range.begin, bucket, step};
  }

  BucketPlan plan;
  FlatSpace space;
  Recorder recorder{1};
  Timeline timeline;
};

/// Fills with values that depend on rank and step only.
void FillRandomly(std::span<float> values, int rank, int step);

/// A collective, a codec that it can carry, and how many workers there are.
struct CodecSetting {
  CollectiveEntry entry;
  std::string codec;
  int world;
};

/// Whether a codec rounds values and leaves none out.
bool RoundsOnItsWay(const std::string& codec);

/// Every collective with every codec that it can carry, in worlds of several sizes.
std::vector<CodecSetting> CodecSettings();

/// Those of which a test says something. A world of one encodes nothing.
std::vector<CodecSetting> CodecSettingsWhere(
    const std::function<bool(const CodecSetting&)>& wanted);

/// How GoogleTest prints a setting.
void PrintTo(const CodecSetting& setting, std::ostream* out);
std::string NameOfCodecSetting(const testing::TestParamInfo<CodecSetting>& info);

class CodecCollectiveTest : public testing::TestWithParam<CodecSetting> {
 protected:
  using Body = std::function<void(Collective& sum, CodecMember& member, int rank)>;

  void OnEveryRank(std::size_t elements, const StrategyOptions& options, const Body& body) const;
  int world() const { return GetParam().world; }
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_RING_COLLECTIVES_CODEC_COLLECTIVE_TESTING_H_
