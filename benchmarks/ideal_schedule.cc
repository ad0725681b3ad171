// The best that `--schedule priority` can give: the steady step time of a profile model over one
// ideal link. With fifo, buckets are sent as they become ready; with priority, those of the first
// layers go first. Prints one JSON object.
//
// usage: ideal_schedule [model=profile:vgg16] [compute_ms=1000] [comm_ms=1000] [bucket_mib=4]
//
// The link carries one bucket at a time and all buckets of a step in `comm_ms`. A bucket is not
// interrupted. A bucket that has been pushed counts as pulled. The model computes as
// models/profile/profile_model.h says.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/models/profile/profile.h"
#include "ringside/models/profile/profile_table.h"

namespace ringside {
namespace {

struct Setting {
  std::string model = "profile:vgg16";
  double compute_ms = 1000;
  double comm_ms = 1000;
  double bucket_mib = 4;
};

struct Layer {
  double forward_ms;
  double backward_ms;
  int first_bucket;  // of the layer's tensors; first > last for a layer without tensors
  int last_bucket;
};

Profile ProfileOf(const std::string& model) {
  const auto table = ProfileTable();
  const auto found = std::ranges::find(table, model, &ProfileEntry::name);
  if (found == table.end()) throw std::invalid_argument("no such model: " + model);
  return found->make();
}

/// One worker and its link. Times are in milliseconds, layers in backward order.
class Simulation {
 public:
  Simulation(const Setting& setting, const Profile& profile) {
    std::vector<TensorSpec> tensors;
    for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
      tensors.insert(tensors.end(), layer->tensors.rbegin(), layer->tensors.rend());
    }
    const auto target = static_cast<std::size_t>(setting.bucket_mib * (1 << 20));
    const BucketPlan plan(tensors, {.target_bytes = target});
    const double ms_per_element = setting.comm_ms / static_cast<double>(plan.elements());
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      wire_ms_.push_back(static_cast<double>(plan.range(bucket).size()) * ms_per_element);
    }
    int tensor = 0;
    for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
      const double share = layer->macs / profile.macs() * setting.compute_ms;
      Layer timed{share / 3, 2 * share / 3, 0, -1};
      if (!layer->tensors.empty()) timed.first_bucket = plan.first_bucket(tensor);
      tensor += static_cast<int>(layer->tensors.size());
      if (!layer->tensors.empty()) timed.last_bucket = plan.last_bucket(tensor - 1);
      layers_.push_back(timed);
    }
  }

  /// The time from one backward pass to the next. Every step is like the first one: it begins with
  /// an idle link, because all buckets of the last step have been awaited.
  double StepMs(bool priority) const { return Forward(Arrivals(Ready(), priority)); }

 private:
  /// The time at which each bucket's last gradient is final; the backward pass begins at 0.
  std::vector<double> Ready() const {
    std::vector<double> ready(wire_ms_.size(), 0);
    double now = 0;
    for (const Layer& layer : layers_) {
      now += layer.backward_ms;
      for (int b = layer.first_bucket; b <= layer.last_bucket; ++b) ready[std::size_t(b)] = now;
    }
    return ready;
  }

  std::vector<double> Arrivals(const std::vector<double>& ready, bool priority) const {
    std::vector<double> arrivals(ready.size(), -1);
    double now = 0;
    for (std::size_t sent = 0; sent < ready.size(); ++sent) {
      const std::size_t bucket = Next(ready, arrivals, now, priority);
      now = std::max(now, ready[bucket]) + wire_ms_[bucket];
      arrivals[bucket] = now;
    }
    return arrivals;
  }

  /// The bucket to send next: the first unsent one, or with priority the last one that is ready.
  static std::size_t Next(const std::vector<double>& ready, const std::vector<double>& arrivals,
                          double now, bool priority) {
    std::size_t first = 0;
    while (arrivals[first] >= 0) ++first;
    std::size_t next = first;
    for (std::size_t bucket = first; priority && bucket < ready.size(); ++bucket) {
      if (arrivals[bucket] < 0 && ready[bucket] <= now) next = bucket;
    }
    return next;
  }

  double Forward(const std::vector<double>& arrivals) const {
    double now = 0;
    for (const Layer& layer : layers_) now += layer.backward_ms;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      for (int b = layer->first_bucket; b <= layer->last_bucket; ++b) {
        now = std::max(now, arrivals[std::size_t(b)]);
      }
      now += layer->forward_ms;
    }
    return now;
  }

  std::vector<Layer> layers_;
  std::vector<double> wire_ms_;  // by bucket
};

Setting Parse(int argc, char** argv) {
  Setting setting;
  const std::map<std::string, double*> numbers{{"compute_ms", &setting.compute_ms},
                                               {"comm_ms", &setting.comm_ms},
                                               {"bucket_mib", &setting.bucket_mib}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string name = argument.substr(0, argument.find('='));
    const std::string value = argument.substr(std::min(argument.size(), name.size() + 1));
    if (name == "model") {
      setting.model = value;
    } else if (numbers.contains(name)) {
      *numbers.at(name) = std::stod(value);
    } else {
      throw std::invalid_argument("unknown argument " + argument);
    }
  }
  return setting;
}

void Print(const Setting& setting) {
  const Simulation simulation(setting, ProfileOf(setting.model));
  const double fifo = simulation.StepMs(false);
  const double priority = simulation.StepMs(true);
  fmt::print(
      "{{\"benchmark\": \"ideal_schedule\", \"model\": \"{}\", \"compute_ms\": {}, \"comm_ms\": "
      "{}, "
      "\"bucket_mib\": {}, \"fifo_ms\": {:.1f}, \"priority_ms\": {:.1f}, \"bound_ms\": {:.1f}, "
      "\"ratio\": {:.3f}}}\n",
      setting.model, setting.compute_ms, setting.comm_ms, setting.bucket_mib, fifo, priority,
      std::max(setting.compute_ms, setting.comm_ms), fifo / priority);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    ringside::Print(ringside::Parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "ideal_schedule: {}\n", error.what());
    return 2;
  }
}
