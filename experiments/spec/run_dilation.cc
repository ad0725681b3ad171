#include "ringside/experiments/spec/run_dilation.h"

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {

double DilationOf(const RunSpec& spec, int cores) {
  if (!spec.network) return 1;
  const ServerLayout layout = LayoutServers(spec);
  const NetworkPlan plan = PlanNetwork(*spec.network, spec.workers, layout.dedicated, spec.hosts);
  return ChooseDilation(spec.dilation, plan, MostBitsPerSecond(plan, layout.colocated > 0), cores);
}

}  // namespace ringside
