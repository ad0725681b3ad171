#ifndef RINGSIDE_EXPERIMENTS_WEB_HTML_PAGE_H_
#define RINGSIDE_EXPERIMENTS_WEB_HTML_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// The parts of an HTML page that needs no other file and no network. All functions are pure.

/// The text of an embedded file.
std::string_view TextOf(std::span<const std::uint8_t> bytes);

/// Replaces every {{name}} of the template, but none inside the texts that it inserts. Throws
/// `InternalError` for a name that `parts` lacks.
std::string FillTemplate(std::string_view page,
                         const std::map<std::string_view, std::string_view>& parts);

/// Text that is safe in an element or an attribute.
std::string EscapeHtml(std::string_view text);
/// JSON that is safe inside a script element: no `<`, `>`, `&` or Unicode line separator can end
/// the element or begin a comment in it. Bytes that are not UTF-8 are replaced.
std::string ScriptSafeJson(const nlohmann::json& value);
/// The name of an inline script in a Content-Security-Policy: 'sha256-...'.
std::string ScriptHash(std::string_view script);
/// RFC 4648, with padding.
std::string Base64(std::span<const std::byte> bytes);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WEB_HTML_PAGE_H_
