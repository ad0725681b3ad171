#include "ringside/common/training/evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::size_t kBatch = 256;
// The coordinator takes values of up to 2 MiB.
constexpr std::size_t kPieceFloats = std::size_t{1} << 18;

/// What one worker contributes to an evaluation. Sent as bytes: all workers run the same binary.
struct Contribution {
  double loss_sum = 0;
  double train_loss_sum = 0;
  double train_seconds = 0;
  std::int64_t correct = 0;
  std::int64_t samples = 0;
  std::int64_t train_samples = 0;
};

/// What follows a contribution: the sums of the named metrics, in the order of their names.
std::vector<double> MetricSums(const Evaluation& evaluation) {
  std::vector<double> sums;
  for (const auto& [name, sum] : evaluation.metric_sums) sums.push_back(sum);
  return sums;
}

void Add(const Evaluation& part, Evaluation& sum) {
  sum.loss_sum += part.loss_sum;
  sum.samples += part.samples;
  if (part.correct) sum.correct = sum.correct.value_or(0) + *part.correct;
  for (const auto& [name, value] : part.metric_sums) sum.metric_sums[name] += value;
}

template <typename T>
std::string_view Bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <typename T>
void CopyBytes(std::string_view bytes, std::span<T> out, int rank) {
  if (bytes.size() != out.size_bytes()) {
    throw CommError("worker " + std::to_string(rank), "exchange",
                    "it sent " + std::to_string(bytes.size()) + " bytes, expected " +
                        std::to_string(out.size_bytes()));
  }
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
}

double Mean(double sum, std::int64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// Adds in rank order, so that all workers get the same bits.
Contribution Sum(const std::vector<Contribution>& all) {
  Contribution sum;
  for (const Contribution& one : all) {
    sum.loss_sum += one.loss_sum;
    sum.train_loss_sum += one.train_loss_sum;
    sum.train_seconds = std::max(sum.train_seconds, one.train_seconds);
    sum.correct += one.correct;
    sum.samples += one.samples;
    sum.train_samples += one.train_samples;
  }
  return sum;
}

// Every worker sees the same contributions, so all name the same worker.
void CheckFinite(const std::vector<int>& ranks, const std::vector<Contribution>& all,
                 std::int64_t steps_done) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::isfinite(all[i].loss_sum)) continue;
    throw DivergedError(ranks[i], steps_done, all[i].loss_sum);
  }
}

std::string RoundText(int round) { return round == 0 ? "" : ", round " + std::to_string(round); }

}  // namespace

/// What the living workers contributed, in rank order.
struct Evaluator::Exchanged {
  std::vector<int> ranks;
  std::vector<std::string> values;

  std::vector<Contribution> Parse() const {
    std::vector<Contribution> contributions(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto head = std::string_view(values[i]).substr(0, sizeof(Contribution));
      CopyBytes(head, std::span(&contributions[i], 1), ranks[i]);
    }
    return contributions;
  }

  /// Means of the metrics, on a worker that has measured them: its part of the test split was not
  /// empty.
  std::map<std::string, double> Metrics(const Evaluation& mine, std::int64_t samples) const {
    if (mine.metric_sums.empty()) return {};
    std::vector<double> sums(mine.metric_sums.size(), 0.0);
    std::vector<double> theirs(sums.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto tail = std::string_view(values[i]).substr(sizeof(Contribution));
      if (tail.empty()) continue;
      CopyBytes(tail, std::span(theirs), ranks[i]);
      for (std::size_t metric = 0; metric < sums.size(); ++metric) sums[metric] += theirs[metric];
    }
    std::map<std::string, double> means;
    std::size_t metric = 0;
    for (const auto& [name, sum] : mine.metric_sums) means[name] = Mean(sums[metric++], samples);
    return means;
  }
};

Evaluator::Evaluator(const World& world, Model& model, const Dataset& dataset, Store& store,
                     Timeline& timeline, std::chrono::milliseconds barrier_timeout)
    : world_(world),
      model_(model),
      dataset_(dataset),
      exchanges_(store, world),
      timeline_(timeline),
      barrier_timeout_(barrier_timeout),
      test_samples_(dataset.size(Split::kTest)),
      living_(static_cast<std::size_t>(world.workers)) {
  std::iota(living_.begin(), living_.end(), 0);
}

Evaluator::Exchanged Evaluator::Gather(const std::string& name, std::string_view mine) {
  Exchanged exchanged;
  auto all = exchanges_.GatherLiving(name, mine, Deadline::After(barrier_timeout_));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::optional<std::string>& value = all[rank];
    if (!value) continue;
    exchanged.ranks.push_back(static_cast<int>(rank));
    exchanged.values.push_back(std::move(*value));
  }
  return exchanged;
}

void Evaluator::AddTrainingLoss(double loss_sum, std::size_t samples) {
  train_loss_sum_ += loss_sum;
  train_samples_ += static_cast<std::int64_t>(samples);
}

void Evaluator::AverageBuffers(std::int64_t steps_done) {
  const std::span<float> buffers = model_.Buffers();
  for (std::size_t begin = 0; begin < buffers.size(); begin += kPieceFloats) {
    const std::string part = begin == 0 ? "" : ", from value " + std::to_string(begin);
    Average("buffers after step " + std::to_string(steps_done) + part,
            buffers.subspan(begin, std::min(kPieceFloats, buffers.size() - begin)));
  }
}

void Evaluator::Average(const std::string& name, std::span<float> piece) {
  const Exchanged all = Gather(name, Bytes(std::span<const float>(piece)));
  std::vector<double> sum(piece.size(), 0.0);
  std::vector<float> one(piece.size());
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    CopyBytes(all.values[i], std::span(one), all.ranks[i]);
    for (std::size_t j = 0; j < one.size(); ++j) sum[j] += one[j];
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    piece[i] = static_cast<float>(sum[i] / static_cast<double>(all.values.size()));
  }
}

// All workers see the same contributions. So if one of those that should have evaluated a part of
// the test split is lost, all others divide the split anew.
EvaluationRecord Evaluator::Evaluate(std::int64_t steps_done, double train_seconds) {
  std::vector<Contribution> all;
  Evaluation slice;
  Exchanged exchanged;
  for (int round = 0; all.empty(); ++round) {
    slice = EvaluateSlice(steps_done);
    const Contribution mine{.loss_sum = slice.loss_sum,
                            .train_loss_sum = train_loss_sum_,
                            .train_seconds = train_seconds,
                            .correct = slice.correct.value_or(0),
                            .samples = slice.samples,
                            .train_samples = train_samples_};
    const std::vector<double> metrics = MetricSums(slice);
    std::string message(Bytes(std::span(&mine, 1)));
    message += Bytes(std::span<const double>(metrics));
    exchanged =
        Gather("evaluation after step " + std::to_string(steps_done) + RoundText(round), message);
    if (exchanged.ranks == living_) all = exchanged.Parse();
    living_ = exchanged.ranks;
  }
  train_loss_sum_ = 0;
  train_samples_ = 0;
  CheckFinite(living_, all, steps_done);
  const Contribution sum = Sum(all);
  EvaluationRecord record;
  record.step = steps_done;
  record.train_seconds = sum.train_seconds;
  record.train_loss = Mean(sum.train_loss_sum, sum.train_samples);
  record.loss = Mean(sum.loss_sum, sum.samples);
  if (dataset_.targets() == 0) {
    record.accuracy = Mean(static_cast<double>(sum.correct), sum.samples);
  }
  record.metrics = exchanged.Metrics(slice, sum.samples);
  return record;
}

Evaluation Evaluator::EvaluateSlice(std::int64_t steps_done) {
  const ScopedSpan span(timeline_, SpanKind::kEvaluate, steps_done);
  const auto place =
      static_cast<std::size_t>(std::ranges::find(living_, world_.rank) - living_.begin());
  const std::size_t workers = living_.size();
  const std::size_t slice_end = test_samples_ * (place + 1) / workers;
  Evaluation sum;
  for (std::size_t begin = test_samples_ * place / workers; begin < slice_end; begin += kBatch) {
    const Evaluation part = EvaluateBatch(begin, std::min(begin + kBatch, slice_end), steps_done);
    Add(part, sum);
  }
  return sum;
}

Evaluation Evaluator::EvaluateBatch(std::size_t begin, std::size_t end, std::int64_t steps_done) {
  std::vector<std::size_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  Batch batch{.step = steps_done, .samples = indices.size(), .global_samples = test_samples_};
  buffer_.Read(dataset_, Split::kTest, indices, batch);
  return model_.Evaluate(batch);
}

}  // namespace ringside
