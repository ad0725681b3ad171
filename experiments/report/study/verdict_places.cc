#include "ringside/experiments/report/study/verdict_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "ringside/experiments/report/cells/condition_text.h"

namespace ringside {
namespace {

constexpr std::size_t kNamed = 6;

// Semicolons stand between texts that have commas.
std::string Joined(const std::vector<std::string>& texts) {
  if (texts.size() < 2) return texts.empty() ? "" : texts.front();
  const bool commas = std::ranges::any_of(
      texts, [](const std::string& text) { return text.find(',') != std::string::npos; });
  return fmt::format("{}{}and {}", fmt::join(texts.begin(), texts.end() - 1, commas ? "; " : ", "),
                     commas ? "; " : " ", texts.back());
}

// The ratio from the winner's side.
double Lead(const Finding& finding) {
  const double ratio = finding.ring_over_ps.ratio.value_or(1);
  return ratio >= 1 ? ratio : 1 / ratio;
}

// Whether `determining` has one value of `key` for each of its own.
bool Determines(const std::string& determining, const std::string& key, const Judged& findings) {
  std::map<std::string, std::string> values;
  return std::ranges::all_of(findings, [&](const Finding* finding) {
    const std::string& value = finding->varied.at(key);
    return values.try_emplace(finding->varied.at(determining), value).first->second == value;
  });
}

bool IsNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string LeadText(const Finding& finding) { return fmt::format(" ({:.2f}x)", Lead(finding)); }

// "with 2 (1.20x) and 8 (1.31x) workers", "with 8 workers (1.31x)"
std::string WorkersText(const Judged& findings, bool leads) {
  const bool one = findings.size() == 1;
  std::vector<std::string> numbers;
  for (const Finding* finding : findings) {
    numbers.push_back(fmt::format("{}{}{}", finding->workers, one ? " workers" : "",
                                  leads ? LeadText(*finding) : ""));
  }
  return fmt::format("with {}{}", Joined(numbers), one ? "" : " workers");
}

// What links a label with the text before it: " " or ", ".
std::size_t LengthOfLink(const std::string& label) {
  return std::min(label.find_first_not_of(", "), label.size());
}

// " at ", ", model ": how all of several labels begin, up to the end of a word.
std::string SharedStart(const std::vector<std::string>& labels) {
  constexpr std::size_t kAfterComma = 2;
  const std::size_t end = labels.front().find(' ', kAfterComma);
  if (labels.size() < 2 || end == std::string::npos) return "";
  const std::string start = labels.front().substr(0, end + 1);
  const auto starts = [&](const std::string& label) { return label.starts_with(start); };
  return std::ranges::all_of(labels, starts) ? start : "";
}

}  // namespace

std::string LeadRange(const Judged& findings) {
  const auto [least, most] = std::ranges::minmax_element(
      findings, {}, [](const Finding* finding) { return Lead(*finding); });
  const std::string low = fmt::format("{:.2f}x", Lead(**least));
  const std::string high = fmt::format("{:.2f}x", Lead(**most));
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::vector<std::string> TellingKeys(const Judged& findings) {
  std::vector<std::string> keys;
  for (const auto& entry : findings.front()->varied) {
    const std::string& key = entry.first;
    const auto has_key = [&](const Finding* finding) { return finding->varied.contains(key); };
    const auto has_value = [&](const Finding* finding) {
      return finding->varied.at(key) == entry.second;
    };
    if (!std::ranges::all_of(findings, has_key)) continue;
    if (!std::ranges::all_of(findings, has_value)) keys.push_back(key);
  }
  std::ranges::stable_partition(
      keys, [&](const std::string& key) { return !IsNumber(findings.front()->varied.at(key)); });
  std::vector<std::string> telling;
  for (const std::string& key : keys) {
    const auto known = [&](const std::string& other) { return Determines(other, key, findings); };
    if (std::ranges::none_of(telling, known)) telling.push_back(key);
  }
  return telling;
}

Places::Places(const Judged& all, const std::vector<std::string>& keys) : keys_(keys) {
  std::set<int> workers;
  std::set<std::string> media;
  for (const Finding* finding : all) {
    workers.insert(finding->workers);
    media.insert(finding->medium);
  }
  same_workers_ = workers.size() == 1;
  media_ = media.size() > 1;
}

std::string Places::Text(const Judged& findings, bool leads) const {
  if (findings.size() > kNamed) {
    const std::string range = leads ? fmt::format(" ({})", LeadRange(findings)) : "";
    return fmt::format("in {} comparisons{}", findings.size(), range);
  }
  if (same_workers_ && !differ_in_workers_only()) return WithSameWorkers(findings, leads);
  std::vector<std::pair<std::string, Judged>> groups;  // by what differs besides the workers
  for (const Finding* finding : findings) {
    const std::string label = Label(*finding);
    auto group = std::ranges::find(groups, label, &std::pair<std::string, Judged>::first);
    if (group == groups.end()) group = groups.insert(group, {label, Judged()});
    group->second.push_back(finding);
  }
  std::vector<std::string> texts;
  for (const auto& [label, group] : groups) texts.push_back(WorkersText(group, leads) + label);
  return Joined(texts);
}

std::string Places::WithSameWorkers(const Judged& findings, bool leads) const {
  std::vector<std::string> labels;
  for (const Finding* finding : findings) {
    labels.push_back(Label(*finding) + (leads ? LeadText(*finding) : ""));
  }
  std::string start = SharedStart(labels);
  const bool commas = std::ranges::any_of(labels, [&](const std::string& label) {
    return label.find(',', start.size()) != std::string::npos;
  });
  if (commas) start.clear();
  if (start.empty()) start = labels.front().substr(0, LengthOfLink(labels.front()));
  for (std::string& label : labels) {
    label.erase(0, label.starts_with(start) ? start.size() : LengthOfLink(label));
  }
  return fmt::format("with {} workers{}{}", findings.front()->workers, start, Joined(labels));
}

// " at 1 Gbit/s, model profile:vgg16", " over tcp"
std::string Places::Label(const Finding& finding) const {
  std::vector<std::string> values;
  for (const std::string& key : keys_) {
    values.push_back(finding.conditions.at(key));
  }
  std::string label = AfterNoun(std::move(values));
  if (media_)
    label += " over " + (finding.medium.empty() ? "different transports" : finding.medium);
  return label;
}

}  // namespace ringside
