// The main function of a target where there is no libFuzzer. It runs each input of the target, then
// inputs that it makes of them by chance. The seed is fixed, so the order of inputs is always the
// same; only their number depends on the machine.
// usage: fuzz_NAME PATH...
//   PATH   an input, or a folder of inputs. With inputs alone it runs them and ends.
// RINGSIDE_FUZZ_SECONDS: how long it makes inputs (30).
//
// The input under way is always in the file fuzz_NAME.input of the working directory. The file goes
// when all is well. So it is there after any kind of end.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "tests/fuzz/fuzz_target.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestInput = std::size_t{64} << 10;
constexpr unsigned kHangSeconds = 60;  // after which one input counts as a hang

/// How long to make inputs.
double SecondsFrom(const char* variable) {
  double seconds = 30;
  if (variable == nullptr) return seconds;
  const std::string_view text = variable;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error("RINGSIDE_FUZZ_SECONDS is no number: " + std::string(text));
  }
  return seconds;
}

/// The file that holds the input under way.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_.get() < 0) throw std::runtime_error(path + ": cannot be written");
  }

  void Keep(const std::string& input) const {
    const auto size = static_cast<ssize_t>(input.size());
    if (::pwrite(file_.get(), input.data(), input.size(), 0) != size ||
        ::ftruncate(file_.get(), size) != 0) {
      throw std::runtime_error(path_ + ": cannot be written");
    }
  }
  void Remove() const { fs::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const FileDescriptor file_;
};

/// Changes inputs by chance, the same way in every run.
class Mutator {
 public:
  /// An input made of one or two of `inputs`, which is not empty.
  std::string Make(const std::vector<std::string>& inputs) {
    std::string input = inputs[Below(inputs.size())];
    for (std::size_t change = 0, changes = 1 + Below(4); change < changes; ++change) {
      Change(input, inputs[Below(inputs.size())]);
    }
    if (input.size() > kLongestInput) input.resize(kLongestInput);
    return input;
  }

 private:
  /// 0 <= number < count; 0 for none.
  std::size_t Below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  /// A length that is mostly short.
  std::size_t Length(std::size_t most) { return std::min(most, std::size_t{1} << Below(12)); }

  void Change(std::string& input, const std::string& other) {
    switch (Below(7)) {
      case 0:
        return FlipBit(input);
      case 1:
        return SetByte(input);
      case 2:
        return SetNumber(input);
      case 3:  // cut off the end
        return input.resize(Below(input.size() + 1));
      case 4:
        return Erase(input);
      case 5:  // a part of another input, or of the same
        return Insert(input, other);
      default:  // the begin of this one and the end of the other
        input.resize(Below(input.size() + 1));
        input += other.substr(Below(other.size() + 1));
    }
  }
  void FlipBit(std::string& input) {
    if (input.empty()) return;
    char& byte = input[Below(input.size())];
    byte = static_cast<char>(byte ^ (1 << Below(8)));
  }
  void SetByte(std::string& input) {
    constexpr std::string_view kBytes = "\0\x01\x7f\x80\xff\"'[]{}:,-+.eE0129 \n/\\&*"sv;
    if (input.empty()) return;
    input[Below(input.size())] =
        Below(2) == 0 ? kBytes[Below(kBytes.size())] : static_cast<char>(Below(256));
  }
  /// Writes an integer at the border of a range, as lengths and counts are written.
  void SetNumber(std::string& input) {
    const std::size_t bytes = std::size_t{1} << Below(4);
    if (input.size() < bytes) return;
    constexpr std::uint64_t kOne = 1;
    const std::array<std::uint64_t, 6> numbers{0,
                                               kOne,
                                               ~std::uint64_t{0},
                                               (kOne << (8 * bytes - 1)) - 1,
                                               kOne << (8 * bytes - 1),
                                               kOne << Below(8 * bytes)};
    const std::uint64_t number = numbers[Below(numbers.size())];
    std::array<char, sizeof(number)> digits{};
    std::memcpy(digits.data(), &number, sizeof(number));
    if (Below(2) == 0) std::reverse(digits.begin(), digits.begin() + static_cast<int>(bytes));
    input.replace(Below(input.size() - bytes + 1), bytes, digits.data(), bytes);
  }
  void Erase(std::string& input) {
    const std::size_t begin = Below(input.size());
    input.erase(begin, Length(input.size() - begin));
  }
  void Insert(std::string& input, const std::string& other) {
    const std::size_t begin = Below(other.size());
    const std::string part = other.substr(begin, Length(other.size() - begin));
    const std::size_t at = Below(input.size() + 1);
    const std::size_t replaced = Below(2) == 0 ? 0 : std::min(part.size(), input.size() - at);
    input.replace(at, replaced, part);
  }

  std::mt19937_64 random_{1};
};

std::string ReadInput(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> ReadInputs(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const fs::path& path : paths) inputs.push_back(ReadInput(path));
  return inputs;
}

void RunInput(const std::string& input, const InputFile& file) {
  file.Keep(input);
  ::alarm(kHangSeconds);
  // A buffer of exactly this size, so that a sanitizer sees a read behind its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// Not for a sanitizer, which reserves more addresses than any limit allows.
void LimitMemory() {
#ifdef RINGSIDE_FUZZ_LIMITS_MEMORY
  constexpr rlim_t kMost = rlim_t{4} << 30;
  const rlimit limit{.rlim_cur = kMost, .rlim_max = kMost};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("memory cannot be limited");
#endif
}

int Run(const std::string& name, const std::vector<std::string>& paths) {
  std::vector<std::string> inputs;
  bool makes_more = paths.empty();
  for (const std::string& path : paths) {
    if (fs::is_directory(path)) {
      makes_more = true;
      std::ranges::move(ReadInputs(path), std::back_inserter(inputs));
    } else {
      inputs.push_back(ReadInput(path));
    }
  }
  if (makes_more) std::ranges::move(FuzzSeeds(), std::back_inserter(inputs));
  inputs.emplace_back();  // nothing at all

  LimitMemory();
  const InputFile file(name + ".input");
  std::uint64_t executions = 0;
  try {
    for (const std::string& input : inputs) {
      RunInput(input, file);
      ++executions;
    }
    const double seconds = SecondsFrom(std::getenv("RINGSIDE_FUZZ_SECONDS"));
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    Mutator mutator;
    while (makes_more && Clock::now() < end) {
      RunInput(mutator.Make(inputs), file);
      ++executions;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: execution %llu threw %s: %s\nThe input is in %s\n", name.c_str(),
                 static_cast<unsigned long long>(executions), typeid(error).name(), error.what(),
                 file.path().c_str());
    return 1;
  }
  file.Remove();
  std::printf("%s: %zu inputs, %llu executions, no finding\n", name.c_str(), inputs.size(),
              static_cast<unsigned long long>(executions));
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    const std::filesystem::path program = argv[0];
    return ringside::Run(program.filename().string(), {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
