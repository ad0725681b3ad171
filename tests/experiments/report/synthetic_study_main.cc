// usage: synthetic_study DIR
// Writes the study of 500 runs that the browser test opens, and DIR.names.json.
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/report/synthetic_study.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: synthetic_study DIR\n", stderr);
    return 2;
  }
  try {
    ringside::SyntheticStudy study;
    study.hostile_names = ringside::HostileNames();
    ringside::WriteSyntheticStudy(study, argv[1]);
    std::ofstream(std::string(argv[1]) + ".names.json") << nlohmann::json(study.hostile_names);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "synthetic_study: %s\n", error.what());
    return 1;
  }
}
