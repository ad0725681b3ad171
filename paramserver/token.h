#ifndef RINGSIDE_PARAMSERVER_TOKEN_H_
#define RINGSIDE_PARAMSERVER_TOKEN_H_

#include <cstddef>
#include <string_view>

namespace ringside {

/// Takes the same time wherever the first difference is.
inline bool SameToken(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^
                                        static_cast<unsigned char>(other));
  }
  return difference == 0;
}

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TOKEN_H_
