#include "ringside/experiments/system/processes/oom_kills.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

std::uint64_t OomKills() noexcept {
  const FileDescriptor counters(::open("/proc/vmstat", O_RDONLY | O_CLOEXEC));
  std::array<char, 32'768> buffer;  // The file has some 5 KB, of which a read returns a page.
  std::size_t size = 0;
  while (true) {
    const ssize_t count = ::read(counters.get(), buffer.data() + size, buffer.size() - size);
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  const std::string_view text(buffer.data(), size);
  constexpr std::string_view kName = "\noom_kill ";
  const std::size_t name = text.find(kName);
  if (name == std::string_view::npos) return 0;
  std::uint64_t kills = 0;
  std::from_chars(text.data() + name + kName.size(), text.data() + text.size(), kills);
  return kills;
}

void RecentOomKills::Look() noexcept {
  const Clock::time_point now = Clock::now();
  if (now - looked_ < kRecent) return;
  looked_ = now;
  before_ = last_;
  last_ = OomKills();
}

}  // namespace ringside
