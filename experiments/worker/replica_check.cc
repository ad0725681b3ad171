#include "ringside/experiments/worker/replica_check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Group = std::vector<int>;  // ranks, ascending

// All workers run on machines of one byte order, so the bytes of the hash can be compared.
std::string HashOf(std::span<const float> params) {
  const XXH128_hash_t hash = XXH3_128bits(params.data(), params.size_bytes());
  return {reinterpret_cast<const char*>(&hash), sizeof(hash)};
}

// "worker 2", "workers 0, 1 and 3"
std::string WorkersText(const Group& ranks) {
  std::string text = ranks.size() == 1 ? "worker " : "workers ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace

std::string ReplicaDifference(std::span<const std::string> hashes) {
  std::map<std::string, Group> by_hash;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (hashes[rank].empty()) continue;  // the job has lost this worker
    by_hash[hashes[rank]].push_back(static_cast<int>(rank));
  }
  if (by_hash.size() < 2) return "";
  std::vector<Group> groups;
  for (auto& [hash, ranks] : by_hash) groups.push_back(std::move(ranks));
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  if (groups[0].size() == groups[1].size()) {
    return WorkersText(groups[0]) + " and " + WorkersText(groups[1]) +
           " have different parameters, and no more workers have one than the other";
  }
  Group others;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    others.insert(others.end(), groups[i].begin(), groups[i].end());
  }
  std::ranges::sort(others);
  return WorkersText(others) + (others.size() == 1 ? " has" : " have") + " other parameters than " +
         WorkersText(groups[0]);
}

void CheckReplicas(std::span<const float> params, std::int64_t steps_done,
                   ExchangeSeries& exchanges, const Deadline& deadline) {
  std::vector<std::string> hashes;
  for (std::optional<std::string>& hash : exchanges.GatherLiving(
           "parameters after step " + std::to_string(steps_done), HashOf(params), deadline)) {
    hashes.push_back(std::move(hash).value_or(""));
  }
  const std::string difference = ReplicaDifference(hashes);
  if (!difference.empty()) throw ReplicasDifferError(steps_done, difference);
}

}  // namespace ringside
