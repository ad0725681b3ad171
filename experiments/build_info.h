#ifndef RINGSIDE_EXPERIMENTS_BUILD_INFO_H_
#define RINGSIDE_EXPERIMENTS_BUILD_INFO_H_

#include <string>

namespace ringside {

/// What this build is made of, for `--version`, `doctor` and a bundle's environment record.
struct BuildInfo {
  std::string version;     ///< "0.1.0"
  std::string git;         ///< Commit, "-dirty" when the tree had changes; "unknown" outside git.
  std::string build_type;  ///< "Release"
  std::string compiler;    ///< "GNU 12.2.0"
  std::string grpc;        ///< Versions; never empty.
  std::string protobuf;
  std::string gloo;
  std::string mpi;       ///< Empty when built without: strategy mpi is then unavailable.
  std::string nccl;      ///< The same of strategy nccl.
  std::string libtorch;  ///< Empty when built without: models that need it are refused.
};

BuildInfo ThisBuild();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BUILD_INFO_H_
