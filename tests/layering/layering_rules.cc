#include "tests/layering/layering_rules.h"

#include <regex>
#include <sstream>

namespace ringside {

const Graph& AllowedTops() {
  static const Graph allowed{
      {"common", {"common"}},
      {"ring", {"common", "ring"}},
      {"paramserver", {"common", "paramserver"}},
      {"models", {"common", "models"}},
      {"experiments", {"common", "ring", "paramserver", "models", "experiments"}}};
  return allowed;
}

const Graph& AllowedComponents() {
  static const Graph allowed{{"core", {}},
                             {"ring", {"core"}},
                             {"paramserver", {"core"}},
                             {"models", {"core"}},
                             {"torch_models", {"core", "models"}},
                             {"app", {"core", "ring", "paramserver", "models"}}};
  return allowed;
}

namespace {

// Headers of the standard library and of the C library have no folder. POSIX and Linux have some
// that do.
bool IsStandardOrPosix(const std::string& header) {
  static const Names folders{"sys", "arpa", "net", "netinet", "linux"};
  static const Names vendor_files{"mpi.h", "nccl.h", "cuda.h", "cuda_runtime.h", "sqlite3.h"};
  if (header.find('/') != std::string::npos) return folders.contains(TopOf(header));
  return !vendor_files.contains(header);
}

bool IsVendor(const std::string& header) {
  return !header.starts_with(kOurs) && !header.starts_with("tests/") && !IsStandardOrPosix(header);
}

bool IsMadeByVendor(const std::string& header) { return header.ends_with(".pb.h"); }

bool IsSecurityOf(const std::string& folder, const std::string& header) {
  return folder == kSecurity && header.starts_with("openssl/");
}

/// Specs, bundles and reports use JSON values.
bool IsVocabularyOf(const std::string& top, const std::string& header) {
  return top == "experiments" && header.starts_with("nlohmann/");
}

}  // namespace

std::vector<std::string> Violations(const Source& source) {
  const std::string top = TopOf(source.path);
  const Names& allowed = AllowedTops().at(top);
  std::vector<std::string> violations;
  for (const std::string& header : source.includes) {
    const std::string folder = FolderOfHeader(header);
    const bool foreign =
        (!folder.empty() && !allowed.contains(TopOf(folder))) || header.starts_with("tests/");
    const bool vendor = IsVendor(header) || IsMadeByVendor(header);
    const bool vendor_forbidden =
        vendor && ((top == "common" && !IsSecurityOf(source.folder, header)) ||
                   (source.is_header && !source.is_private && !IsVocabularyOf(top, header)));
    if (foreign || vendor_forbidden) violations.push_back(header);
  }
  // A path relative to the file would pass the rules by.
  for (const std::string& header : source.quoted) {
    if (!header.starts_with(kOurs) && !header.starts_with("tests/")) violations.push_back(header);
  }
  return violations;
}

std::vector<std::string> PrivateIncludes(const Source& source, const Names& private_headers) {
  std::vector<std::string> violations;
  for (const std::string& header : source.includes) {
    if (!header.starts_with(kOurs)) continue;
    const std::string path = header.substr(kOurs.size());
    if (!private_headers.contains(path)) continue;
    const bool open = source.is_header && !source.is_private;
    if (open || TopOf(path) != TopOf(source.path)) violations.push_back(header);
  }
  return violations;
}

std::vector<std::string> DefinedTypes(const std::string& text) {
  static const std::regex definition(
      R"((?:class|struct|enum class|enum) (\w+)(?: final)?(?: :.*)?( \{.*)?)");
  std::vector<std::string> types;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    // A line that ends with `};` defines a whole type, one that ends with `;` alone only names it.
    const bool names_only = line.ends_with(';') && !line.ends_with("};");
    if (!names_only && std::regex_match(line, match, definition)) types.push_back(match[1]);
  }
  return types;
}

}  // namespace ringside
