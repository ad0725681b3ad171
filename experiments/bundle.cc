#include "experiments/bundle.h"

#include <fstream>
#include <iterator>

#include "common/errors.h"

namespace ringside {

namespace fs = std::filesystem;

nlohmann::json ReadJsonFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path.string(), 0, "there is no such file, or it cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(path.string(), static_cast<std::int64_t>(error.byte), "no valid JSON");
  }
}

std::optional<std::string> BundleStatus(const fs::path& directory) {
  const fs::path path = directory / kSummaryFile;
  if (!fs::exists(path)) return std::nullopt;
  try {
    return ReadJsonFile(path).at("status").get<std::string>();
  } catch (const std::exception&) {
    return "corrupt";
  }
}

bool IsFinished(const std::optional<std::string>& status) {
  return status && *status != "interrupted" && *status != "corrupt";
}

std::string StatusText(const std::string& status, const std::string& error) {
  if (error.empty()) return status;
  return error.starts_with(status) ? error : status + ": " + error;
}

}  // namespace ringside
