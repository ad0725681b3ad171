#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_FIDELITY_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_FIDELITY_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace ringside {

/// The fidelity of a bench: that of its worst job, with four keys more: `strategy`, `jobs`,
/// `limited_jobs`, `not_judged_jobs`. A limited job is worse than one that was not judged; then the
/// less idle one is worse. `jobs` are objects `fidelity` with `strategy`. Null without jobs on
/// emulated networks.
nlohmann::json WorstFidelity(std::span<const nlohmann::json> jobs);

/// It as a line for people, with its end; empty for null.
std::string BenchFidelityText(const nlohmann::json& worst);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_FIDELITY_H_
