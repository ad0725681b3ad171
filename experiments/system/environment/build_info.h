#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_BUILD_INFO_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_BUILD_INFO_H_

#include <string>
#include <string_view>

namespace ringside {

/// The versions of this build, for `--version`, `doctor` and a bundle's environment record.
struct BuildInfo {
  std::string version;     ///< "0.1.0"
  std::string git;         ///< Commit, "-dirty" when the tree had changes; "unknown" outside git.
  std::string build_type;  ///< "Release"
  std::string compiler;    ///< "GNU 12.2.0"
  std::string grpc;        ///< Versions; never empty.
  std::string protobuf;
  std::string gloo;
  std::string mpi;       ///< Empty when built without it: strategy mpi is then unavailable.
  std::string nccl;      ///< The same for strategy nccl.
  std::string libtorch;  ///< Empty when built without it: models that need it are refused.
};

BuildInfo ThisBuild();

/// Of one of the libraries that backends stand on, by its name in an entry; empty: it was not built
/// in, or it is not ours.
std::string LibraryVersion(std::string_view library);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_BUILD_INFO_H_
