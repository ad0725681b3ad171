#include "ringside/experiments/job/launcher/make_member_setup.h"

#include <unistd.h>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/experiments/job/launcher/lost_workers.h"
#include "ringside/experiments/job/placement/emulated_hosts.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/network/network_address.h"

namespace ringside {

MemberSetup MakeMemberSetup(const RunSpec& spec, const JobOptions& options, const Member& who,
                            const std::string& address, const LocalPlace& place) {
  const ServerLayout layout = LayoutServers(spec);
  MemberSetup setup;
  setup.who = who;
  setup.world = {.rank = who.index,
                 .workers = spec.workers,
                 .servers = layout.total(),
                 .colocated_servers = layout.colocated,
                 .local_rank = place.rank,
                 .local_workers = place.workers,
                 .host = HostName(address)};
  AssignWorkersToHosts(setup.world, spec.hosts);
  setup.address = address;
  setup.tls = options.tls;
  setup.parent_pid = ::getpid();
  setup.bundle_dir = options.bundle_dir;
  setup.spec = spec;
  setup.generation = options.generation;
  setup.resume = options.resume.empty() ? spec.resume : options.resume;
  setup.drops_lost_workers = DropsLostWorkers(spec, options);
  setup.dilation = DilatedClock::Factor();
  setup.bench = options.bench;
  return setup;
}

}  // namespace ringside
