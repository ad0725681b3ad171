#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_SETTINGS_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_SETTINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "ringside/paramserver/transports/transport_table.h"

namespace ringside::push_pull {

struct Settings {
  int workers = 2;
  int servers = 1;
  std::size_t mib = 64;
  std::size_t bucket_mib = 4;
  int rounds = 15;
  std::vector<std::string> transports{"grpc", "tcp", "uds", "shm"};
  std::string only;  ///< "ringside" or a peer; empty: all.

  std::size_t elements() const { return (mib << 20) / sizeof(float); }
  std::size_t bucket_elements() const { return (bucket_mib << 20) / sizeof(float); }
  /// The elements of a peer's server: whole buckets, as many as the other servers have, or one
  /// more.
  struct Part {
    std::size_t begin = 0, size = 0;
  };
  Part PartOf(int server) const;
  bool Has(const std::string& contender) const { return only.empty() || only == contender; }
};

/// Throws `UsageError`.
Settings ParseSettings(int argc, char** argv);

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_SETTINGS_H_
