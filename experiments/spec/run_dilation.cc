#include "ringside/experiments/spec/run_dilation.h"

#include <fmt/format.h>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

NetworkPlan PlanOf(const RunSpec& spec, const NetworkSpec& network) {
  return PlanNetwork(network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
}

double MostTraffic(const RunSpec& spec, const NetworkPlan& plan) {
  return MostBitsPerSecond(plan, LayoutServers(spec).colocated > 0);
}

}  // namespace

double NeededDilationOf(const RunSpec& spec, int cores) {
  if (!spec.network) return 1;
  return NeededDilation(MostTraffic(spec, PlanOf(spec, *spec.network)), cores);
}

double DilationOf(const RunSpec& spec, int cores) {
  if (!spec.network) return 1;
  const NetworkPlan plan = PlanOf(spec, *spec.network);
  return ChooseDilation(spec.dilation, plan, MostTraffic(spec, plan), cores);
}

std::string DilationShortfall(const RunSpec& spec, int cores) {
  const double factor = DilationOf(spec, cores);
  const double needed = NeededDilationOf(spec, cores);
  if (!spec.dilation.automatic || factor >= needed) return "";
  return fmt::format(
      "dilation auto is {:g}, the most that this network allows; its traffic needs {:g} on {} "
      "cores, so the cores may be the limit",
      factor, needed, cores);
}

}  // namespace ringside
