#include "ringside/experiments/job/processes/member_setup.h"

#include <nlohmann/json.hpp>
#include <span>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/sha256.h"
#include "ringside/experiments/text/json_depth.h"
#include "ringside/experiments/text/json_integer.h"

namespace ringside {

std::string MemberSetup::ToJson() const {
  const nlohmann::json json{
      {"role", static_cast<int>(who.role)},
      {"index", who.index},
      {"world",
       {{"rank", world.rank},
        {"workers", world.workers},
        {"servers", world.servers},
        {"colocated_servers", world.colocated_servers},
        {"local_rank", world.local_rank},
        {"local_workers", world.local_workers},
        {"host", world.host}}},
      {"coordinator", coordinator},
      {"token", token},
      {"address", address},
      {"tls", tls},
      {"parent_pid", parent_pid},
      {"bundle_dir", bundle_dir},
      {"spec", spec},
      {"generation", generation},
      {"resume", resume},
      {"drops_lost_workers", drops_lost_workers},
      {"dilation", dilation},
      {"measured_bytes_per_s", measured_bytes_per_s},
      {"bench", bench ? nlohmann::json(*bench) : nlohmann::json()},
  };
  return json.dump();
}

MemberSetup MemberSetup::FromJson(const std::string& text, const Catalog& catalog) {
  if (IsTooDeepJson(text)) throw ConfigError("the launcher's message is nested too deeply");
  try {
    const auto json = nlohmann::json::parse(text);
    const auto& world = json.at("world");
    MemberSetup setup;
    setup.who = {static_cast<Role>(RequireInteger<int>(json.at("role"))),
                 RequireInteger<int>(json.at("index"))};
    setup.world = {.rank = RequireInteger<int>(world.at("rank")),
                   .workers = RequireInteger<int>(world.at("workers")),
                   .servers = RequireInteger<int>(world.at("servers")),
                   .colocated_servers = RequireInteger<int>(world.at("colocated_servers")),
                   .local_rank = RequireInteger<int>(world.at("local_rank")),
                   .local_workers = RequireInteger<int>(world.at("local_workers")),
                   .host = world.at("host")};
    setup.coordinator = json.at("coordinator");
    setup.token = json.at("token");
    setup.address = json.at("address");
    setup.tls = json.at("tls");
    setup.parent_pid = RequireInteger<decltype(setup.parent_pid)>(json.at("parent_pid"));
    setup.bundle_dir = json.at("bundle_dir");
    setup.spec = ReadRunSpec(json.at("spec"), catalog);
    setup.generation = RequireInteger<decltype(setup.generation)>(json.at("generation"));
    setup.resume = json.at("resume");
    setup.drops_lost_workers = json.at("drops_lost_workers");
    setup.dilation = json.at("dilation");
    setup.measured_bytes_per_s = json.at("measured_bytes_per_s");
    const auto& bench = json.at("bench");
    if (!bench.is_null()) setup.bench = bench.get<BenchPlan>();
    return setup;
  } catch (const nlohmann::json::exception& error) {
    // The message leaves out the text, because that contains the token.
    throw ConfigError("the launcher's message to this process is damaged (id " +
                      std::to_string(error.id) + ")");
  }
}

std::string TrainsKey(int worker) { return "job/trains/" + std::to_string(worker); }

std::string SpecHash(const RunSpec& spec) {
  const std::string text = nlohmann::json(spec).dump();
  return Sha256Hex(std::as_bytes(std::span(text)));
}

}  // namespace ringside
