#ifndef RINGSIDE_TESTS_GPU_GPU_JOB_H_
#define RINGSIDE_TESTS_GPU_GPU_JOB_H_

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {

/// Runs of `ringside` over the stand-ins, into the directory `run`.
class GpuJob : public RingsideProcessTest {
 protected:
  /// `ringside` on a machine with so many GPUs. `more`: further variables.
  ProcessResult OnGpus(const std::string& gpus, const std::string& args,
                       const std::string& more = "") const {
    return RunRingside(args, std::string("LD_LIBRARY_PATH=") + RINGSIDE_STAND_INS +
                                 " RINGSIDE_STAND_IN_GPUS=" + gpus +
                                 " RINGSIDE_STAND_IN_LOG=" + scratch() + " " + more);
  }
  nlohmann::json Summary() const {
    std::ifstream file(scratch() + "/run/summary.json");
    return nlohmann::json::parse(file);
  }
  std::vector<float> Parameters() const {
    constexpr std::streamoff kHeader = 80;
    std::ifstream file(scratch() + "/run/params.bin", std::ios::binary | std::ios::ate);
    std::vector<float> values((static_cast<std::size_t>(file.tellg()) - kHeader) / sizeof(float));
    file.seekg(kHeader);
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    return values;
  }
  /// What the processes wrote that had to do with CUDA when they ended.
  std::vector<nlohmann::json> Logs() const {
    std::vector<nlohmann::json> logs;
    for (const auto& entry : std::filesystem::directory_iterator(scratch())) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      logs.push_back(nlohmann::json::parse(file));
    }
    return logs;
  }
};

inline double RelativeDistance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_GPU_GPU_JOB_H_
