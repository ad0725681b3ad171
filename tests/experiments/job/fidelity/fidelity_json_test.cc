#include "ringside/experiments/job/fidelity/fidelity_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

Fidelity Judged() {
  return {.judged_seconds = 12.5,
          .least_idle_share = 0.5,
          .median_idle_share = 0.75,
          .late = LateWakeUps{.p99 = 0.25, .worst_second_p99 = 0.5, .max = 3, .allowed = 5},
          .counters = LinkCounters{1000, 1, 12},
          .retransmitted_share = 0.001,
          .unexplained_share = 0.0005,
          .segments_of_a_packet = 20,
          .limited_by = {},
          .not_judged = {}};
}

TEST(FidelityJson, HasTheKeysThatTheDocumentationLists) {
  EXPECT_EQ(FidelityJson(Judged()), nlohmann::json::parse(R"({
    "verdict": "ok", "limited_by": [], "not_judged": "", "judged_seconds": 12.5,
    "least_idle_share": 0.5, "median_idle_share": 0.75,
    "late_wakeups_ms": {"p99": 0.25, "worst_second_p99": 0.5, "max": 3.0, "allowed": 5.0},
    "retransmitted_share": 0.001, "unexplained_share": 0.0005, "segments_of_a_packet": 20,
    "sent_segments": 1000, "dropped_packets": 12})"));
}

TEST(FidelityJson, ALimitCountsMoreThanWhatCouldNotBeJudged) {
  Fidelity fidelity = Judged();
  fidelity.not_judged = {"lost packets: no snmp", "and more"};
  EXPECT_EQ(FidelityJson(fidelity).at("verdict"), nullptr);
  EXPECT_EQ(FidelityJson(fidelity).at("not_judged"), "lost packets: no snmp; and more");
  EXPECT_EQ(FidelityText(FidelityJson(fidelity)),
            "fidelity: not judged: lost packets: no snmp; and more");
  fidelity.limited_by = {"the processor: 4 % idle", "late wake-ups: 7 ms"};
  EXPECT_EQ(FidelityJson(fidelity).at("verdict"), "limited");
  EXPECT_EQ(FidelityText(FidelityJson(fidelity)),
            "fidelity: limited by the processor: 4 % idle; late wake-ups: 7 ms");
}

TEST(FidelityJson, WhatWasNotMeasuredIsNull) {
  const nlohmann::json json = UnjudgedFidelity("no network");
  EXPECT_EQ(json.at("verdict"), nullptr);
  EXPECT_EQ(json.at("not_judged"), "no network");
  for (const char* key :
       {"least_idle_share", "median_idle_share", "late_wakeups_ms", "retransmitted_share",
        "unexplained_share", "sent_segments", "dropped_packets"}) {
    EXPECT_EQ(json.at(key), nullptr) << key;
  }
}

nlohmann::json NetworkRecord(bool links_as_asked, bool connections_seen) {
  nlohmann::json network{{"ok", links_as_asked}, {"connections", nullptr}};
  if (connections_seen) network["connections"] = {{"ends", 4}, {"congestion_control", "cubic"}};
  return network;
}

TEST(WithNetwork, ChangesNothingWhereTheNetworkIsAsAsked) {
  const nlohmann::json judged = FidelityJson(Judged());
  EXPECT_EQ(WithNetwork(judged, NetworkRecord(true, true), true), judged);
  EXPECT_EQ(WithNetwork(judged, NetworkRecord(true, false), false), judged)
      << "no hosts to connect";
  EXPECT_EQ(WithNetwork(judged, nullptr, true), judged) << "there is no network";
  EXPECT_EQ(WithNetwork(nullptr, NetworkRecord(false, false), true), nullptr);
}

// As with loss, with jitter, or where a round trip holds too many bytes.
TEST(WithNetwork, LinksThatCannotBeJudgedLimitNothing) {
  nlohmann::json network = NetworkRecord(true, true);
  network["ok"] = nullptr;
  const nlohmann::json judged = FidelityJson(Judged());
  EXPECT_EQ(WithNetwork(judged, network, true), judged);
}

TEST(WithNetwork, ARunWithoutASeenConnectionIsNotJudged) {
  const nlohmann::json network = NetworkRecord(true, false);
  Fidelity fidelity = Judged();
  EXPECT_EQ(FidelityText(WithNetwork(FidelityJson(fidelity), network, true)),
            "fidelity: not judged: congestion control: no connection between hosts was seen");
  fidelity.not_judged = {"lost packets: no snmp"};
  EXPECT_EQ(WithNetwork(FidelityJson(fidelity), network, true).at("not_judged"),
            "lost packets: no snmp; congestion control: no connection between hosts was seen");
  fidelity.limited_by = {"the processor: 4 % idle"};
  EXPECT_EQ(WithNetwork(FidelityJson(fidelity), network, true).at("verdict"), "limited");
}

TEST(WithNetwork, LinksThatWereNotAsAskedAreOneMoreLimit) {
  const nlohmann::json network = NetworkRecord(false, true);
  Fidelity fidelity = Judged();
  fidelity.limited_by = {"late wake-ups: 7 ms"};
  EXPECT_EQ(WithNetwork(FidelityJson(fidelity), network, true).at("limited_by"),
            nlohmann::json({"late wake-ups: 7 ms", "links: one or more were not as asked"}));
  EXPECT_EQ(WithNetwork(FidelityJson(Judged()), network, true).at("verdict"), "limited");
  EXPECT_EQ(WithNetwork(UnjudgedFidelity("too short"), network, true).at("verdict"), "limited");
}

TEST(FidelityText, IsOneWordForAGoodRunAndEmptyWithoutANetwork) {
  EXPECT_EQ(FidelityText(FidelityJson(Judged())), "fidelity: ok");
  EXPECT_EQ(FidelityText(nullptr), "");
}

TEST(TimeWindows, AreReadAsTheyWereWritten) {
  const auto now = TimeWindow::Clock::now();
  const std::vector<TimeWindow> windows{
      {now, now + std::chrono::nanoseconds(3)},
      {now + std::chrono::nanoseconds(3), now + std::chrono::hours(3)}};
  EXPECT_EQ(ReadWindows(nlohmann::json::parse(WindowsJson(windows).dump())), windows);
}

TEST(TimeWindows, ThatAreNotInOrderOrNoWholeNumbersAreRefused) {
  for (const char* text : {"[[2, 1]]", "[[1, 3], [2, 4]]", "[1]", "null", "[[1]]", "[[\"a\", 2]]",
                           "[[1.5, 2]]", "[[1, 1e74]]"}) {
    EXPECT_THROW(ReadWindows(nlohmann::json::parse(text)), InternalError) << text;
  }
}

}  // namespace
}  // namespace ringside
