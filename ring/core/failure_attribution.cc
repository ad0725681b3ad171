#include "ringside/ring/core/failure_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// Within this time the store answers if a key is set.
constexpr std::chrono::milliseconds kAnswerTime = 20ms;

std::string KeyOf(const std::string& prefix, const std::string& reporter) {
  return fmt::format("{}/suspect of {}", prefix, reporter);
}

/// Of the rank that wrote the first note.
std::string FirstKeyOf(const std::string& prefix) { return prefix + "/first reporter"; }

std::string BallotKeyOf(const std::string& prefix, const std::string& reporter) {
  return fmt::format("{}/accused by {}", prefix, reporter);
}

void TrySet(Store& store, const std::string& key, const std::string& value) {
  try {
    store.Set(key, value);
  } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
                                // The store is gone.
  }
}

/// Absent: it was not set in time, or the store is gone.
std::optional<std::string> TryGet(Store& store, const std::string& key, const Deadline& deadline) {
  try {
    return store.Get(key, deadline);
  } catch (const CommError&) {
    return std::nullopt;
  }
}

/// The store answers even if another key has used up the time.
std::optional<std::string> Ask(Store& store, const std::string& key, const Deadline& deadline) {
  return TryGet(store, key, Deadline::After(std::max(deadline.remaining(), kAnswerTime)));
}

/// The notes of all ranks but the reporter. The ranks are asked in turn until the deadline, at
/// least once: neither one that writes none nor one late answer hides what the others have written.
std::map<std::string, std::string> NotesOf(Store& store, const std::string& prefix,
                                           const std::string& reporter,
                                           std::span<const std::string> ranks,
                                           const Deadline& deadline) {
  std::map<std::string, std::string> notes;
  std::vector<std::string> missing(ranks.begin(), ranks.end());
  std::erase(missing, reporter);
  do {
    std::erase_if(missing, [&](const std::string& rank) {
      const auto note = TryGet(store, KeyOf(prefix, rank), Deadline::After(kAnswerTime));
      if (note) notes.emplace(rank, *note);
      return note.has_value();
    });
  } while (!missing.empty() && !deadline.expired());
  return notes;
}

using NoteOf = std::function<std::optional<std::string>(const std::string& rank)>;

/// In a circle of notes the first one counts: its rank has met the fault, and the others have seen
/// how connections were closed afterwards.
std::string CulpritOfCircle(Store& store, const std::string& prefix, const std::string& reporter,
                            const std::string& suspect, const NoteOf& note_of) {
  const auto first = TryGet(store, FirstKeyOf(prefix), Deadline::After(kAnswerTime));
  if (!first || *first == reporter) return suspect;
  return note_of(*first).value_or(suspect);
}

std::string FollowNotes(Store& store, const std::string& prefix, const std::string& reporter,
                        const std::string& suspect, const NoteOf& note_of) {
  if (suspect == reporter) return suspect;
  std::set<std::string> reporters{reporter};
  std::string culprit = suspect;
  while (reporters.insert(culprit).second) {
    const std::optional<std::string> next = note_of(culprit);
    if (!next || *next == culprit) return culprit;  // it reports no other rank
    culprit = *next;
  }
  return CulpritOfCircle(store, prefix, reporter, suspect, note_of);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

void ReportMissingPeer(Store& store, const std::string& prefix, const std::string& reporter,
                       const std::string& suspect) {
  TrySet(store, KeyOf(prefix, reporter), suspect);
  TrySet(store, FirstKeyOf(prefix), reporter);  // only the first rank can
}

std::string FindFailedPeer(Store& store, const std::string& prefix, const std::string& reporter,
                           const std::string& suspect, std::chrono::milliseconds grace) {
  const Deadline deadline = Deadline::After(DilatedClock::ToMachine(grace));
  return FollowNotes(store, prefix, reporter, suspect, [&](const std::string& rank) {
    return TryGet(store, KeyOf(prefix, rank), deadline);
  });
}

std::vector<std::string> Accused(const std::string& self, std::span<const std::string> ranks,
                                 const std::vector<std::string>& unreachable, bool own_link_down) {
  const std::size_t others = ranks.size() - 1;
  const bool alone = unreachable.size() == others && (own_link_down || others > 1);
  return alone ? std::vector{self} : unreachable;
}

Blame MostAccused(std::span<const std::string> ranks,
                  const std::vector<std::vector<std::string>>& votes) {
  std::map<std::string, int> accusers;
  for (const auto& accused : votes) {
    for (const std::string& rank : accused) ++accusers[rank];
  }
  Blame blame{.voters = static_cast<int>(votes.size())};
  for (const std::string& rank : ranks) {
    const auto found = accusers.find(rank);
    if (found == accusers.end() || found->second <= blame.accusers) continue;
    blame.culprit = rank;
    blame.accusers = found->second;
  }
  // Fewer say nothing: an answer may be lost or late.
  if (2 * blame.accusers <= blame.voters) return {};
  return blame;
}

Blame FindCulprit(Store& store, const std::string& prefix, const std::string& reporter,
                  std::span<const std::string> ranks, const Ballot& ballot) {
  TrySet(store, BallotKeyOf(prefix, reporter), fmt::format("{}", fmt::join(ballot.accused, "\n")));
  const auto grace =
      std::max(DilatedClock::ToMachine(kReportGrace) - ballot.probed, std::chrono::milliseconds(0));
  const Deadline voted = Deadline::After(grace + ballot.probe_time);
  // A rank without a note has not failed, or cannot tell.
  const std::map<std::string, std::string> notes =
      NotesOf(store, prefix, reporter, ranks, Deadline::After(grace));
  std::vector<std::vector<std::string>> votes{ballot.accused};
  for (const auto& [rank, note] : notes) {
    if (const auto accused = Ask(store, BallotKeyOf(prefix, rank), voted)) {
      votes.push_back(Lines(*accused));
    }
  }
  Blame blame = MostAccused(ranks, votes);
  if (!blame.culprit.empty()) return blame;
  blame.culprit = FollowNotes(store, prefix, reporter, ballot.suspect,
                              [&](const std::string& rank) -> std::optional<std::string> {
                                const auto note = notes.find(rank);
                                if (note == notes.end()) return std::nullopt;
                                return note->second;
                              });
  return blame;
}

}  // namespace ringside
