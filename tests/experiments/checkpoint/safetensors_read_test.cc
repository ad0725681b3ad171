// Reads our files with the real safetensors package, which scripts/python-venv.sh installs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/experiments/checkpoint/safetensors_export.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"
#include "tests/experiments/report/finish_process.h"

namespace ringside {
namespace {

using nlohmann::json;

json ReadWithTheRealPackage(const std::string& path) {
  const FinishedProcess venv =
      FinishProcess({RINGSIDE_PYTHON_VENV, "safetensors==0.6.2", "numpy==2.2.6"});
  EXPECT_EQ(venv.exit_code, 0) << venv.output;
  const FinishedProcess read =
      FinishProcess({LastLine(venv.output), "-B", RINGSIDE_READ_SAFETENSORS, path});
  EXPECT_EQ(read.exit_code, 0) << read.output;
  return json::parse(LastLine(read.output));
}

TEST(SafetensorsRead, AnExportHasTheModelsNamesAndShapes) {
  const TemporaryDirectory directory;
  SmallCheckpoint small;
  const std::string path = directory.Path("model.safetensors");
  ExportSafetensors(CheckpointFile(small.Write(directory.path())), path);
  const json file = ReadWithTheRealPackage(path);
  EXPECT_EQ(file["metadata"], (json{{"format", "pt"}, {"model", "mlp"}, {"step", "42"}}));
  EXPECT_EQ(
      file["tensors"],
      (json{{"fc.weight", {{2, 1}, {1, 2}}}, {"fc.bias", {{1}, {3}}}, {"buffers", {{1}, {10}}}}));
}

TEST(SafetensorsRead, ACheckpointIsOneToo) {
  const TemporaryDirectory directory;
  SmallCheckpoint small;
  const json file = ReadWithTheRealPackage(small.Write(directory.path()));
  EXPECT_EQ(file["metadata"]["step"], "42");
  EXPECT_EQ(file["metadata"]["strategy"], "ring");
  EXPECT_EQ(file["tensors"], (json{{"parameters/fc.weight", {{2, 1}, {1, 2}}},
                                   {"parameters/fc.bias", {{1}, {3}}},
                                   {"optimizer/exp_avg", {{3}, {4, 5, 6}}},
                                   {"optimizer/exp_avg_sq", {{3}, {7, 8, 9}}},
                                   {"buffers/all", {{1}, {10}}},
                                   {"state-outer-momentum/values", {{2}, {11, 12}}}}));
}

}  // namespace
}  // namespace ringside
