#ifndef RINGSIDE_COMMON_MEASURE_RECORDER_H_
#define RINGSIDE_COMMON_MEASURE_RECORDER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/measure/activity.h"

namespace ringside {

/// What one worker measured in one step. Durations in milliseconds.
struct StepRecord {
  std::int64_t step = 0;
  double step_ms =
      0;  ///< From the start of this step to the start of the next, without evaluation.
  double data_ms = 0;          ///< Waiting for the loader.
  double compute_ms = 0;       ///< Forward and backward without Submit and Await.
  double submit_ms = 0;        ///< Inside Submit.
  double exposed_comm_ms = 0;  ///< Inside Await: the exposed communication.
  double loss_sum = 0;
  std::size_t samples = 0;
  double codec_ms = 0;      ///< Encoding and decoding, on any thread, since the last record.
  double straggler_ms = 0;  ///< Injected wait that slows this worker; part of compute_ms.
  double forward_ms = 0;    ///< The forward pass's part of compute_ms; 0: unknown.
};

/// A held-out evaluation, over all workers.
struct EvaluationRecord {
  std::int64_t step = 0;     ///< Steps done before it.
  double epoch = 0;          ///< The same in epochs.
  double train_seconds = 0;  ///< Training time before it, without evaluations.
  double train_loss = 0;     ///< Mean over the samples since the previous evaluation.
  double loss = 0;
  std::optional<double> accuracy = {};  ///< 0..1; absent where an answer is no class.
  /// Means over the samples of what else the model measures, by name: "mae".
  std::map<std::string, double> metrics = {};
};

/// Collects a worker's measurements in memory. It writes nothing during training. One thread adds
/// steps. The counters are thread-safe, so a communication thread may add to them.
class Recorder {
 public:
  /// Reserves room for `steps` records.
  explicit Recorder(std::size_t steps);

  void AddStep(const StepRecord& record) { steps_.push_back(record); }
  /// Takes the codec time since the last call. It belongs to the step that ends now.
  double TakeCodecMs();
  /// Takes the injected wait since the last call. It belongs to the same step.
  double TakeStragglerMs();
  void AddEvaluation(const EvaluationRecord& record) { evaluations_.push_back(record); }
  void AddPayload(std::uint64_t sent, std::uint64_t received);
  void AddCodecTime(std::chrono::nanoseconds time);
  /// Adds an injected wait of this worker.
  void AddStragglerTime(std::chrono::nanoseconds time);
  /// Counts an update whose gradient was computed from parameters that were `versions` old.
  void AddStaleness(std::int64_t versions);
  /// Counts a bucket's gradient that came too late to be used.
  void AddDroppedPush();
  /// Adds connections that were lost and made again, while the run went on.
  void AddReconnects(int count);

  /// Adds a note for readers of the results: something that the strategy decided by itself.
  void AddNote(std::string note) { notes_.push_back(std::move(note)); }
  /// Sets a figure that the strategy chose or knows by itself, such as a size. The name says its
  /// unit: "slice_bytes".
  void SetFact(const std::string& name, double value) { facts_[name] = value; }

  /// What the training thread is doing.
  ActivityBoard& activity() { return *activity_; }
  /// The same board for a thread that may outlive the recorder.
  std::shared_ptr<const ActivityBoard> shared_activity() const { return activity_; }

  const std::vector<std::string>& notes() const { return notes_; }
  const std::map<std::string, double>& facts() const { return facts_; }
  const std::vector<StepRecord>& steps() const { return steps_; }
  const std::vector<EvaluationRecord>& evaluations() const { return evaluations_; }
  /// Bytes of gradients and parameters given to and taken from the transport, without headers.
  std::uint64_t bytes_sent() const { return sent_; }
  std::uint64_t bytes_received() const { return received_; }
  std::map<std::int64_t, std::int64_t> staleness() const;
  std::int64_t dropped_pushes() const { return dropped_pushes_; }
  int reconnects() const { return reconnects_; }

 private:
  std::vector<StepRecord> steps_;
  std::vector<EvaluationRecord> evaluations_;
  std::vector<std::string> notes_;       // added between steps
  std::map<std::string, double> facts_;  // set before the first step
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::int64_t> dropped_pushes_{0};
  std::atomic<int> reconnects_{0};
  std::atomic<std::int64_t> codec_ns_{0};  // not yet taken
  std::atomic<std::int64_t> straggler_ns_{0};
  std::shared_ptr<ActivityBoard> activity_ = std::make_shared<ActivityBoard>();
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::int64_t> staleness_;  // guarded by mutex_
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_RECORDER_H_
