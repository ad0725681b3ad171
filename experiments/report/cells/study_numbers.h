#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_NUMBERS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_NUMBERS_H_

#include <array>
#include <optional>

#include "ringside/experiments/report/cells/study_cell.h"
#include "ringside/experiments/report/runs/study_run.h"

namespace ringside {

/// A number of a cell that is the median over its runs: the name in CSV and JSON, and the members
/// of cell and run.
struct MedianNumber {
  const char* name;
  std::optional<double> StudyCell::*cell;
  std::optional<double> StudyRun::*run;
};

inline constexpr std::array kMedianNumbers{
    MedianNumber{"step_ms", &StudyCell::step_ms, &StudyRun::step_ms},
    MedianNumber{"compute_ms", &StudyCell::compute_ms, &StudyRun::compute_ms},
    MedianNumber{"exposed_comm_ms", &StudyCell::exposed_comm_ms, &StudyRun::exposed_comm_ms},
    MedianNumber{"samples_per_s", &StudyCell::samples_per_s, &StudyRun::samples_per_s},
    MedianNumber{"bytes_per_step", &StudyCell::bytes_per_step, &StudyRun::bytes_per_step},
    MedianNumber{"bound_bytes_per_step", &StudyCell::bound_bytes_per_step,
                 &StudyRun::bound_bytes_per_step},
    MedianNumber{"bound_comm_ms", &StudyCell::bound_comm_ms, &StudyRun::bound_comm_ms},
    MedianNumber{"bound_ms", &StudyCell::bound_ms, &StudyRun::bound_ms},
    MedianNumber{"bound_ratio", &StudyCell::bound_ratio, &StudyRun::bound_ratio},
    MedianNumber{"achievable_ms", &StudyCell::achievable_ms, &StudyRun::achievable_ms},
    MedianNumber{"achievable_ratio", &StudyCell::achievable_ratio, &StudyRun::achievable_ratio},
    MedianNumber{"straggler_ms", &StudyCell::straggler_ms, &StudyRun::straggler_ms},
    MedianNumber{"buckets", &StudyCell::buckets, &StudyRun::buckets},
    MedianNumber{"cores_busy", &StudyCell::cores_busy, &StudyRun::cores_busy},
    MedianNumber{"accuracy", &StudyCell::accuracy, &StudyRun::accuracy},
    MedianNumber{"test_loss", &StudyCell::test_loss, &StudyRun::eval_loss},
    MedianNumber{"train_loss", &StudyCell::loss, &StudyRun::loss},
    MedianNumber{"staleness_mean", &StudyCell::staleness_mean, &StudyRun::staleness_mean},
    MedianNumber{"core_seconds_per_sample", &StudyCell::core_seconds_per_sample,
                 &StudyRun::core_seconds_per_sample},
    MedianNumber{"nic_bytes_per_sample", &StudyCell::nic_bytes_per_sample,
                 &StudyRun::nic_bytes_per_sample},
    MedianNumber{"nic_bytes_per_sample_servers", &StudyCell::nic_bytes_per_sample_servers,
                 &StudyRun::nic_bytes_per_sample_servers},
    MedianNumber{"cpu_seconds_workers", &StudyCell::cpu_seconds_workers,
                 &StudyRun::cpu_seconds_workers},
    MedianNumber{"cpu_seconds_servers", &StudyCell::cpu_seconds_servers,
                 &StudyRun::cpu_seconds_servers},
    MedianNumber{"peak_rss_bytes", &StudyCell::peak_rss_bytes, &StudyRun::peak_rss_bytes},
    MedianNumber{"dilation_factor", &StudyCell::dilation_factor, &StudyRun::dilation_factor},
    MedianNumber{"equivalent_cores_per_host", &StudyCell::equivalent_cores_per_host,
                 &StudyRun::equivalent_cores_per_host},
    MedianNumber{"wall_step_ms", &StudyCell::wall_step_ms, &StudyRun::wall_step_ms},
    MedianNumber{"least_idle_share", &StudyCell::least_idle_share, &StudyRun::least_idle_share},
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_NUMBERS_H_
