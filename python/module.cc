// The native part of the Python package: ringside::ProgramWorker, for one program.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/program/program_worker.h"
#include "ringside/experiments/system/environment/build_info.h"

namespace nb = nanobind;

namespace {

using ringside::ProgramWorker;
using FlatArray = nb::ndarray<nb::array_api, float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

/// The names that `torch.optim` uses.
ringside::OptimizerOptions OptimizerFrom(const nb::dict& values) {
  ringside::OptimizerOptions options;
  using Kind = ringside::OptimizerOptions::Kind;
  const auto kind = nb::cast<std::string>(values["kind"]);
  if (kind != "sgd" && kind != "adam" && kind != "adamw") {
    throw ringside::ConfigError("no optimizer is called '" + kind + "'");
  }
  options.kind = kind == "sgd" ? Kind::kSgd : kind == "adam" ? Kind::kAdam : Kind::kAdamW;
  const auto read = [&](const char* name, auto& target) {
    if (values.contains(name)) target = nb::cast<std::decay_t<decltype(target)>>(values[name]);
  };
  read("momentum", options.momentum);
  read("nesterov", options.nesterov);
  read("weight_decay", options.weight_decay);
  read("beta1", options.beta1);
  read("beta2", options.beta2);
  read("eps", options.epsilon);
  return options;
}

ProgramWorker::Clock::time_point TimeFrom(std::int64_t nanoseconds) {
  return ProgramWorker::Clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

std::vector<ringside::TensorSpec> TensorsFrom(
    const std::vector<std::string>& names, const std::vector<std::vector<std::int64_t>>& shapes) {
  if (names.size() != shapes.size()) {
    throw ringside::ConfigError("as many names as shapes are needed");
  }
  std::vector<ringside::TensorSpec> tensors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t elements = 1;
    for (const std::int64_t length : shapes[i]) elements *= static_cast<std::size_t>(length);
    tensors.push_back({names[i], elements, shapes[i]});
  }
  return tensors;
}

/// A view of memory that lives as long as `owner`.
FlatArray ViewOf(std::span<float> values, nb::handle owner) {
  return FlatArray(values.data(), {values.size()}, owner);
}

void BindWorker(nb::module_& module) {
  nb::class_<ProgramWorker> worker(module, "Worker");
  worker.def(nb::init<>(), ReleaseGil());
  worker.def_prop_ro("rank", [](const ProgramWorker& self) { return self.world().rank; });
  worker.def_prop_ro("workers", [](const ProgramWorker& self) { return self.world().workers; });
  worker.def_prop_ro("servers", [](const ProgramWorker& self) { return self.world().servers; });
  worker.def_prop_ro("local_rank",
                     [](const ProgramWorker& self) { return self.world().local_rank; });
  worker.def_prop_ro("local_workers",
                     [](const ProgramWorker& self) { return self.world().local_workers; });
  worker.def_prop_ro("strategy", [](const ProgramWorker& self) { return self.spec().strategy; });
  worker.def_prop_ro("seed", [](const ProgramWorker& self) { return self.spec().seed; });
  worker.def_prop_ro("threads", [](const ProgramWorker& self) { return self.spec().threads; });
  worker.def_prop_ro("steps", [](const ProgramWorker& self) { return self.spec().steps; });
  worker.def_prop_ro("servers_update", &ProgramWorker::servers_update);
  worker.def_prop_ro("program_can_update", &ProgramWorker::program_can_update);
  worker.def_prop_ro("how_to_update", &ProgramWorker::HowToUpdate);
  worker.def_prop_ro("needs_parameters", &ProgramWorker::needs_parameters);
  worker.def_prop_ro("finished", &ProgramWorker::finished);
  worker.def_prop_ro("step", &ProgramWorker::step);
  worker.def_prop_ro("in_step", &ProgramWorker::in_step);
  worker.def(
      "register",
      [](ProgramWorker& self, const std::vector<std::string>& names,
         const std::vector<std::vector<std::int64_t>>& shapes,
         const std::optional<nb::dict>& optimizer, double learning_rate) {
        std::optional<ringside::OptimizerOptions> options;
        if (optimizer) options = OptimizerFrom(*optimizer);
        std::vector<ringside::TensorSpec> tensors = TensorsFrom(names, shapes);
        const nb::gil_scoped_release release;
        self.Register(std::move(tensors), options, learning_rate);
      },
      nb::arg("names"), nb::arg("shapes"), nb::arg("optimizer").none(), nb::arg("learning_rate"));
  worker.def("params", [](nb::handle_t<ProgramWorker> self) {
    return ViewOf(nb::cast<ProgramWorker&>(self).params(), self);
  });
  worker.def("grads", [](nb::handle_t<ProgramWorker> self) {
    return ViewOf(nb::cast<ProgramWorker&>(self).grads(), self);
  });
  worker.def("ranges", [](const ProgramWorker& self) {
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    nb::list list;
    for (int tensor = 0; tensor < self.plan().tensors(); ++tensor) {
      const auto& range = self.plan().tensor_range(tensor);
      list.append(nb::make_tuple(range.begin, range.end));
    }
    return list;
  });
  worker.def("loaded", &ProgramWorker::Loaded, ReleaseGil());
  worker.def("broadcast", [](ProgramWorker& self, const std::string& what,
                             nb::ndarray<nb::c_contig, nb::device::cpu> array) {
    const nb::gil_scoped_release release;
    self.Broadcast(what, {static_cast<std::byte*>(array.data()), array.nbytes()});
  });
  worker.def("await_tensor", &ProgramWorker::AwaitTensor, ReleaseGil());
  worker.def("await_all", &ProgramWorker::AwaitAll, ReleaseGil());
  worker.def(
      "begin",
      [](ProgramWorker& self, std::int64_t began, std::optional<std::int64_t> forward_end,
         double learning_rate) {
        std::optional<ProgramWorker::Clock::time_point> end;
        if (forward_end) end = TimeFrom(*forward_end);
        return self.Begin(TimeFrom(began), end, learning_rate);
      },
      nb::arg("began"), nb::arg("forward_end").none(), nb::arg("learning_rate"), ReleaseGil());
  using Gradient = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
  worker.def(
      "gradient_ready",
      [](ProgramWorker& self, int tensor, const std::optional<Gradient>& gradient) {
        std::span<const float> values;
        if (gradient) values = {gradient->data(), gradient->size()};
        const nb::gil_scoped_release release;
        self.GradientReady(tensor, values);
      },
      nb::arg("tensor"), nb::arg("gradient").none());
  worker.def("is_gradient_ready", &ProgramWorker::IsGradientReady);
  worker.def("end_step", &ProgramWorker::EndStep, nb::arg("loss_sum"), nb::arg("samples"),
             ReleaseGil());
  worker.def("add_evaluation", &ProgramWorker::AddEvaluation, nb::arg("loss"),
             nb::arg("accuracy").none(), nb::arg("metrics"), ReleaseGil());
  worker.def("keep_file", &ProgramWorker::KeepFile, nb::arg("name"), nb::arg("content"));
  worker.def("end", &ProgramWorker::End, ReleaseGil());
  worker.def("fail", &ProgramWorker::Fail, ReleaseGil());
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "The native part of ringside: use the package's functions.";
  // The worker lives as long as the process, and what it refers to with it.
  nb::set_leak_warnings(false);
  nb::exception<ringside::Error>(module, "Error", PyExc_RuntimeError);
  module.def("now", [] { return ProgramWorker::Clock::now().time_since_epoch().count(); });
  module.def("version", [] { return ringside::ThisBuild().version; });
  BindWorker(module);
}
