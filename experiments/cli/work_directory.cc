#include "ringside/experiments/cli/work_directory.h"

#include <cstdlib>

#include "ringside/common/base/errors.h"

namespace ringside {

namespace fs = std::filesystem;

WorkDirectory::WorkDirectory(const std::string& verb, const std::string& wanted)
    : keep_(!wanted.empty()), path_(wanted) {
  if (keep_) return;
  std::string pattern = (fs::temp_directory_path() / ("ringside-" + verb + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error(pattern + ": cannot be created");
  path_ = pattern;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  if (!keep_) fs::remove_all(path_, ignored);
}

}  // namespace ringside
