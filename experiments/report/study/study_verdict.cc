// The verdict groups the findings that it rests on by what the servers' side has more than the
// ring's: nothing, hosts, or another transport. Each group becomes a few short sentences: one for
// each result, and how sure they are. If the study varies more than the number of workers, the
// sentences count, and the places are listed apart.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/report/study/verdict_places.h"

namespace ringside {
namespace {

bool SameScenario(const Finding& a, const Finding& b) {
  return a.workers == b.workers && a.varied == b.varied;
}

template <typename Wanted>
Judged Selected(const Judged& findings, const Wanted& wanted) {
  Judged selected;
  for (const Finding* finding : findings) {
    if (wanted(*finding)) selected.push_back(finding);
  }
  return selected;
}

// The weakest certainty of those with a winner or of those that are equal. A scenario in which the
// runs show nothing is a result of its own and does not weaken others.
Certainty WeakestOf(const Judged& findings) {
  const auto any = [&](Certainty certainty) {
    return std::ranges::any_of(
        findings, [&](const Finding* finding) { return finding->certainty == certainty; });
  };
  if (any(Certainty::kPointEstimateOnly)) return Certainty::kPointEstimateOnly;
  if (any(Certainty::kClear)) return Certainty::kClear;
  return any(Certainty::kEqual) ? Certainty::kEqual : Certainty::kUnclear;
}

/// Whether the runs of a scenario show nothing: it is a result of its own.
bool ShowsNothing(const Finding& finding) {
  return finding.winner == "neither" && finding.certainty == Certainty::kUnclear;
}

/// `certainty`: of the findings that show something. The sentence before tells of the others.
std::string CertaintyText(const Judged& findings, Certainty certainty) {
  const bool some_equal = std::ranges::any_of(
      findings, [](const Finding* finding) { return finding->certainty == Certainty::kEqual; });
  const auto silent = static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const Finding* finding) { return ShowsNothing(*finding); }));
  const std::string near = fmt::format("within {:.0f} % of it", kEqualMargin * 100);
  std::string every = "This is sure: every 95 % interval";
  if (silent > 0) every = "The others are sure: each of their 95 % intervals";
  if (silent > 0 && silent + 1 == findings.size()) {
    every = "The other one is sure: its 95 % interval";
  }
  switch (certainty) {
    case Certainty::kClear:
      return every + " leaves out equality" + (some_equal ? fmt::format(" or lies {}", near) : "");
    case Certainty::kEqual:
      return every + fmt::format(" lies within {:.0f} % of equality", kEqualMargin * 100);
    case Certainty::kUnclear:
      return "This is not sure: the 95 % intervals contain equality";
    case Certainty::kPointEstimateOnly:
      return "These are points only: with fewer than five runs there is no interval";
  }
  return "";
}

std::string Capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

// The findings of one group with one result.
struct Share {
  std::string subject;        ///< Alone: "the best ring is faster than the best parameter server"
  std::string after_another;  ///< The same after another share: "they tie within 2 %"
  std::string counted;        ///< The same before a count: "the best ring is 1.10x as fast as ..."
  Judged findings;
  bool leads = false;  ///< Some side is ahead.
};

std::string WinnerText(std::string_view winner, std::string_view loser, const Judged& findings) {
  return fmt::format("the best {} is {} as fast as the best {}", winner, LeadRange(findings),
                     loser);
}

// In the order of the sentence. No share is empty.
std::vector<Share> SharesOf(const Judged& findings) {
  constexpr std::string_view kRing = "ring";
  constexpr std::string_view kServer = "parameter server";
  std::vector<Share> shares;
  const auto add_winner = [&](std::string_view winner, std::string_view loser) {
    const Judged won = Selected(findings, [&](const Finding& f) { return f.winner == winner; });
    if (won.empty()) return;
    const std::string subject =
        fmt::format("the best {} is faster than the best {}", winner, loser);
    shares.push_back({subject, subject, WinnerText(winner, loser, won), won, true});
  };
  const auto add_tie = [&](Tie tie) {
    const Judged tied = Selected(findings, [&](const Finding& f) {
      return f.winner == "neither" && TieOf(f.ring_over_ps) == tie;
    });
    if (tied.empty()) return;
    const std::string alone =
        fmt::format("the best {} and the best {} {}", kRing, kServer, TieText(tie));
    const std::string again = fmt::format("they {}", TieText(tie));
    shares.push_back({alone, again, shares.empty() ? alone : again, tied, false});
  };
  add_winner(kRing, kServer);
  add_winner(kServer, kRing);
  add_tie(Tie::kSmall);
  add_tie(Tie::kUncertain);
  return shares;
}

// "the best ring is 2.15x as fast as the best parameter server in 1 of 4 comparisons", "they tie
// within 2 % in 3"
std::vector<std::string> CountedSentences(const std::vector<Share>& shares, std::size_t all) {
  if (shares.size() == 1) {
    return {fmt::format("{} in {} comparisons", shares[0].counted,
                        all == 2 ? "both" : fmt::format("all {}", all))};
  }
  std::vector<std::string> sentences;
  for (const Share& share : shares) {
    sentences.push_back(
        fmt::format("{} in {}{}", share.counted, share.findings.size(),
                    sentences.empty() ? fmt::format(" of {} comparisons", all) : ""));
  }
  return sentences;
}

// What is said about the findings of one group.
struct Judgement {
  std::string winner;
  Certainty certainty = Certainty::kUnclear;
  std::vector<std::string> sentences;  ///< Without points. The first one continues a start.
  std::vector<std::string> places;     ///< One line for each share, if the sentences only count.
};

std::string WinnerOf(const std::vector<Share>& shares) {
  std::set<std::string> winners;
  for (const Share& share : shares) {
    if (share.leads) winners.insert(share.findings.front()->winner);
  }
  if (winners.empty()) return "neither";
  return winners.size() > 1 ? "depends" : *winners.begin();
}

// `keys`: what tells the findings of the whole study apart.
Judgement Judge(const Judged& findings, const std::vector<std::string>& keys) {
  const std::vector<Share> shares = SharesOf(findings);
  const Places places(findings, keys);
  Judgement judgement;
  judgement.winner = WinnerOf(shares);
  judgement.certainty =
      WeakestOf(Selected(findings, [](const Finding& f) { return !ShowsNothing(f); }));
  std::vector<std::string> lines;
  std::vector<std::string> sentences;
  for (const Share& share : shares) {
    const std::string where = ' ' + places.Text(share.findings, share.leads);
    lines.push_back(share.subject + where);
    sentences.push_back((sentences.empty() ? share.subject : share.after_another) + where);
  }
  if (findings.size() > 1 && !places.differ_in_workers_only()) {
    sentences = CountedSentences(shares, findings.size());
    judgement.places = std::move(lines);
  }
  if (judgement.winner == "depends") sentences.insert(sentences.begin(), "it depends");
  sentences.push_back(CertaintyText(findings, judgement.certainty));
  judgement.sentences = std::move(sentences);
  return judgement;
}

// "with up to 4 more hosts for servers"
std::string MoreHostsText(const Judged& findings) {
  std::set<int> hosts;
  for (const Finding* finding : findings) hosts.insert(finding->server_hosts);
  const int most = *hosts.rbegin();
  return fmt::format("with {}{} more {} for servers ", hosts.size() > 1 ? "up to " : "", most,
                     most == 1 ? "host" : "hosts");
}

// Adds the sentences of a group. The first group decides about winner and certainty.
void AddGroup(const Judged& findings, const std::vector<std::string>& keys,
              const std::string& start, StudyVerdict& verdict) {
  if (findings.empty()) return;
  const Judgement judgement = Judge(findings, keys);
  if (verdict.winner.empty()) {
    verdict.winner = judgement.winner;
    verdict.certainty = judgement.certainty;
  }
  std::string begin = start;
  for (const std::string& sentence : judgement.sentences) {
    if (!verdict.sentence.empty()) verdict.sentence += ' ';
    verdict.sentence += Capitalized(std::exchange(begin, "") + sentence) + '.';
  }
  for (const std::string& line : judgement.places) {
    verdict.details.push_back(Capitalized(start + line) + '.');
  }
}

// Why there is no verdict.
std::string NoVerdictText(const StudyTable& table) {
  if (LimitedEveryRun(table.cells)) {
    return "No verdict: the machine limited every run, so the runs do not show how the strategies "
           "compare.";
  }
  if (HasBothFamilies(table.cells)) {
    return "No verdict: wherever a parameter server and a ring could be compared, the machine "
           "limited every run of one side.";
  }
  const std::string results =
      table.claims.empty() ? "" : " What it shows stands under the common claims.";
  return "No verdict on servers and rings: the study has no server and ring with the same number "
         "of "
         "workers (more than one) and the same workload." +
         results;
}

}  // namespace

std::vector<const Finding*> JudgedFindings(const std::vector<Finding>& findings) {
  Judged judged;
  for (const Finding& finding : findings) {
    const auto same = [&](const Finding* other) { return SameScenario(*other, finding); };
    if (finding.transports_differ && std::ranges::any_of(judged, [&](const Finding* other) {
          return same(other) && !other->transports_differ;
        })) {
      continue;
    }
    const bool relaxed_again = std::ranges::any_of(judged, [&](const Finding* other) {
      return same(other) && other->synchronous_only && other->medium == finding.medium &&
             other->transports_differ == finding.transports_differ &&
             (other->server_hosts > 0) == (finding.server_hosts > 0);
    });
    if (!relaxed_again) judged.push_back(&finding);
  }
  return judged;
}

StudyVerdict VerdictOf(const StudyTable& table) {
  StudyVerdict verdict;
  const Judged judged = JudgedFindings(table.findings);
  if (judged.empty()) {
    verdict.winner = "none";
    verdict.sentence = NoVerdictText(table);
  } else {
    const auto differs = [](const Finding& finding) { return finding.transports_differ; };
    const Judged alike = Selected(judged, std::not_fn(differs));
    const Judged same = Selected(alike, [](const Finding& f) { return f.server_hosts == 0; });
    const Judged more = Selected(alike, [](const Finding& f) { return f.server_hosts > 0; });
    const Judged across = Selected(judged, differs);
    const std::vector<std::string> keys = TellingKeys(judged);
    AddGroup(same, keys, more.empty() ? "" : "on the same hosts ", verdict);
    if (!more.empty()) AddGroup(more, keys, MoreHostsText(more), verdict);
    AddGroup(across, keys, alike.empty() ? "" : "over different transports ", verdict);
  }
  std::ranges::move(CarrierSentences(table.carriers), std::back_inserter(verdict.details));
  verdict.caveats = CaveatsOf(table, judged);
  return verdict;
}

}  // namespace ringside
