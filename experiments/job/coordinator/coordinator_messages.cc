#include "ringside/experiments/job/coordinator/coordinator_messages.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// Both enumerations have the same enumerators in the same order.
template <typename To, typename From>
To SameOrder(From value, To last) {
  const auto number = static_cast<int>(value);
  if (number < 0 || number > static_cast<int>(last)) {
    throw CommError("a member of the job", "reading a message", "it holds an unknown value");
  }
  return static_cast<To>(number);
}

// Summaries sort the times, which needs numbers.
void CheckRow(const job::StepRow& row) {
  const std::array times{row.step_ms(),      row.data_ms(),         row.compute_ms(),
                         row.submit_ms(),    row.exposed_comm_ms(), row.codec_ms(),
                         row.straggler_ms(), row.forward_ms()};
  const auto is_number = [](double ms) { return std::isfinite(ms); };
  if (row.step() >= 0 && std::ranges::all_of(times, is_number)) return;
  throw CommError("a member of the job", "reading a message", "it holds a step that no run has");
}

}  // namespace

job::Role ToMessage(Role role) { return SameOrder(role, job::SERVER_AGENT); }
job::FailureKind ToMessage(FailureKind kind) { return SameOrder(kind, job::COMM); }
Role FromMessage(job::Role role) { return SameOrder(role, Role::kServerAgent); }
FailureKind FromMessage(job::FailureKind kind) { return SameOrder(kind, FailureKind::kComm); }

void ToMessage(const JobState::MemberHandle& ticket, job::Member* message) {
  message->set_role(ToMessage(ticket.who.role));
  message->set_index(ticket.who.index);
  message->set_incarnation(ticket.incarnation);
}

JobState::MemberHandle FromMessage(const job::Member& message) {
  return {{FromMessage(message.role()), message.index()}, message.incarnation()};
}

void ToMessage(const Beat& beat, job::BeatRequest* message) {
  message->set_next_step(beat.next_step);
  message->set_held(beat.held);
  message->set_rows_number(beat.rows_number);
  job::Activity* activity = message->mutable_activity();
  activity->set_kind(SameOrder(beat.activity.kind, job::Activity::ENDED));
  activity->set_step(beat.activity.step);
  activity->set_bucket(beat.activity.bucket);
  activity->set_seconds(beat.activity_seconds);
  activity->set_way(SameOrder(beat.activity.peer.way, job::Activity::PUSH));
  activity->set_peer(beat.activity.peer.index);
  for (const StepRecord& step : beat.steps) {
    job::StepRow* row = message->add_steps();
    row->set_step(step.step);
    row->set_step_ms(step.step_ms);
    row->set_data_ms(step.data_ms);
    row->set_compute_ms(step.compute_ms);
    row->set_submit_ms(step.submit_ms);
    row->set_exposed_comm_ms(step.exposed_comm_ms);
    row->set_loss_sum(step.loss_sum);
    row->set_samples(step.samples);
    row->set_codec_ms(step.codec_ms);
    row->set_straggler_ms(step.straggler_ms);
    row->set_forward_ms(step.forward_ms);
  }
  for (const auto& [record, params_sha256] : beat.evaluations) {
    job::EvaluationRow* row = message->add_evaluations();
    row->set_step(record.step);
    row->set_epoch(record.epoch);
    row->set_train_seconds(record.train_seconds);
    row->set_train_loss(record.train_loss);
    row->set_loss(record.loss);
    if (record.accuracy) row->set_accuracy(*record.accuracy);
    row->mutable_metrics()->insert(record.metrics.begin(), record.metrics.end());
    row->set_params_sha256(params_sha256);
  }
}

Beat FromMessage(const job::BeatRequest& message) {
  Beat beat;
  beat.next_step = message.next_step();
  beat.held = message.held();
  beat.rows_number = message.rows_number();
  const job::Activity& activity = message.activity();
  beat.activity = {SameOrder(activity.kind(), Activity::Kind::kEnded),
                   activity.step(),
                   activity.bucket(),
                   {SameOrder(activity.way(), AwaitedPeer::Way::kPush), activity.peer()}};
  beat.activity_seconds = activity.seconds();
  for (const job::StepRow& row : message.steps()) {
    CheckRow(row);
    beat.steps.push_back({row.step(), row.step_ms(), row.data_ms(), row.compute_ms(),
                          row.submit_ms(), row.exposed_comm_ms(), row.loss_sum(), row.samples(),
                          row.codec_ms(), row.straggler_ms(), row.forward_ms()});
  }
  for (const job::EvaluationRow& row : message.evaluations()) {
    EvaluationRecord record{row.step(), row.epoch(), row.train_seconds(), row.train_loss(),
                            row.loss()};
    if (row.has_accuracy()) record.accuracy = row.accuracy();
    record.metrics = {row.metrics().begin(), row.metrics().end()};
    beat.evaluations.push_back({std::move(record), row.params_sha256()});
  }
  return beat;
}

void ToMessage(const TracePiece& piece, job::TracePiece* message) {
  message->set_spans(piece.spans);
  message->set_dropped(piece.dropped);
  message->set_chunks(piece.chunks);
  message->set_dropped_chunks(piece.dropped_chunks);
  for (const ClockReading& reading : piece.readings) {
    job::ClockReading* row = message->add_readings();
    row->set_at(reading.at);
    row->set_offset(reading.offset);
    row->set_uncertainty(reading.uncertainty);
  }
}

TracePiece FromMessage(const job::TracePiece& message) {
  TracePiece piece{
      message.spans(), message.dropped(), {}, message.chunks(), message.dropped_chunks()};
  for (const job::ClockReading& row : message.readings()) {
    piece.readings.push_back({row.at(), row.offset(), row.uncertainty()});
  }
  return piece;
}

void ToMessage(const HeartbeatCommand& order, job::BeatReply* message) {
  message->set_order(SameOrder(order.kind, job::BeatReply::SUSPENDED));
  message->set_stop_step(order.stop_step);
  message->set_reason(order.reason);
}

HeartbeatCommand FromMessage(const job::BeatReply& message) {
  return {SameOrder(message.order(), HeartbeatCommand::Kind::kSuspended), message.stop_step(),
          message.reason()};
}

}  // namespace ringside
