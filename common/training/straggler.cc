#include "ringside/common/training/straggler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "ringside/common/base/counter_random.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Kind = StragglerOptions::Kind;

struct KindName {
  Kind kind;
  std::string_view name;
  std::string_view own_key;  ///< What this kind reads in addition to the factor.
};

constexpr std::array kKinds{
    KindName{Kind::kPermanent, "permanent", "worker"},
    KindName{Kind::kRotating, "rotating", "every"},
    KindName{Kind::kRandom, "random", "probability"},
};
constexpr std::string_view kNone = "none";
constexpr double kMostFactor = 1000;
constexpr std::uint64_t kStream = 0x73747261;  // apart from other draws under the same seed

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

const KindName& KindOf(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &KindName::name);
  if (found != kKinds.end()) return *found;
  throw ConfigError("no straggler is of kind " + Quoted(name) +
                    "; there are permanent, rotating and random");
}

template <typename Number>
Number ParseNumber(std::string_view key, std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError(Quoted(text) + " is no number for a straggler's " + std::string(key));
  }
  return number;
}

void SetValue(StragglerOptions& options, std::string_view key, std::string_view value) {
  if (key == "kind") {
    options.kind = KindOf(value).kind;
  } else if (key == "factor") {
    options.factor = ParseNumber<double>(key, value);
  } else if (key == "every") {
    options.every = ParseNumber<std::int64_t>(key, value);
  } else if (key == "probability") {
    options.probability = ParseNumber<double>(key, value);
  } else if (key == "worker") {
    options.worker = ParseNumber<int>(key, value);
  } else {
    throw ConfigError("a straggler has no " + Quoted(key) +
                      "; it has kind, factor, every, probability and worker");
  }
}

void CheckKeys(const StragglerOptions& options, const std::set<std::string_view>& given) {
  for (const std::string_view key : {"kind", "factor"}) {
    if (!given.contains(key)) {
      throw ConfigError("a straggler needs a " + std::string(key) +
                        ", as in kind=rotating,factor=2");
    }
  }
  const auto* kind = std::ranges::find(kKinds, options.kind, &KindName::kind);
  for (const KindName& other : kKinds) {
    if (other.own_key != kind->own_key && given.contains(other.own_key)) {
      throw ConfigError("a " + std::string(kind->name) + " straggler does not read " +
                        std::string(other.own_key) + ", a " + std::string(other.name) +
                        " one does");
    }
  }
}

void CheckValues(const StragglerOptions& options) {
  if (!(options.factor > 1 && options.factor <= kMostFactor)) {
    throw ConfigError(
        "a straggler's factor must be above 1, and at most 1000: it multiplies the "
        "compute time");
  }
  if (options.every < 1) throw ConfigError("a straggler's turn takes at least 1 step (every)");
  if (!(options.probability > 0 && options.probability <= 1)) {
    throw ConfigError("a straggler's probability is above 0 and at most 1");
  }
  if (options.worker < 0) throw ConfigError("a straggler's worker is a rank, 0 or more");
}

std::string NumberText(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

}  // namespace

StragglerOptions ParseStraggler(std::string_view text) {
  if (text == kNone) return {};
  StragglerOptions options;
  std::set<std::string_view> given;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw ConfigError(Quoted(item) +
                        " is not of the form key=value; give none, or a straggler "
                        "such as kind=rotating,factor=2");
    }
    const std::string_view key = item.substr(0, equals);
    SetValue(options, key, item.substr(equals + 1));
    if (!given.insert(key).second) {
      throw ConfigError("a straggler's " + std::string(key) + " is given twice");
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  CheckKeys(options, given);
  CheckValues(options);
  return options;
}

std::string StragglerText(const StragglerOptions& options) {
  if (options.kind == Kind::kNone) return std::string(kNone);
  const auto* kind = std::ranges::find(kKinds, options.kind, &KindName::kind);
  std::string text =
      "kind=" + std::string(kind->name) + ",factor=" + NumberText(options.factor) + ",";
  text += std::string(kind->own_key) + "=";
  switch (options.kind) {
    case Kind::kPermanent:
      return text + std::to_string(options.worker);
    case Kind::kRotating:
      return text + std::to_string(options.every);
    default:
      return text + NumberText(options.probability);
  }
}

double Slowdown(const StragglerOptions& options, std::uint64_t seed, std::int64_t step, int worker,
                int workers) {
  bool slow = false;
  switch (options.kind) {
    case Kind::kNone:
      break;
    case Kind::kPermanent:
      slow = worker == options.worker;
      break;
    case Kind::kRotating:
      slow = step / options.every % workers == worker;
      break;
    case Kind::kRandom: {
      const RandomKey key = RandomKey::Of(
          {seed, kStream, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(worker)});
      slow = std::ldexp(static_cast<double>(RandomBits(key, 0)), -32) < options.probability;
      break;
    }
  }
  return slow ? options.factor : 1;
}

}  // namespace ringside
