// What a target has besides libFuzzer's own main function: it writes its seeds into the folder that
// RINGSIDE_FUZZ_SEEDS names, before libFuzzer reads that folder.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("RINGSIDE_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  const std::vector<std::string> seeds = ringside::FuzzSeeds();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::string path = std::string(folder) + "/seed-" + std::to_string(i);
    std::ofstream file(path, std::ios::binary);
    if (!(file << seeds[i]).flush()) throw std::runtime_error(path + ": cannot be written");
  }
  return 0;
}
