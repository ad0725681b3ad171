#ifndef RINGSIDE_TESTS_LAYERING_LAYERING_RULES_H_
#define RINGSIDE_TESTS_LAYERING_LAYERING_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/folder_graph.h"
#include "tests/layering/source_tree.h"

namespace ringside {

/// The folders that a folder of the first name may include.
const Graph& AllowedTops();

/// What an archive of the first name may link of ours.
const Graph& AllowedComponents();

/// The only folder of common/ that uses a package. It keeps the job's token secret.
inline constexpr std::string_view kSecurity = "common/security";

/// The headers that `source` includes and must not include.
std::vector<std::string> Violations(const Source& source);

/// The private headers that `source` includes and must not include. These are private headers of
/// another component. In a header that everybody may include, these are all private headers.
std::vector<std::string> PrivateIncludes(const Source& source, const Names& private_headers);

/// The types that a header defines outside of other types, templates too, by the layout that the
/// format gives them.
std::vector<std::string> DefinedTypes(const std::string& text);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_LAYERING_LAYERING_RULES_H_
