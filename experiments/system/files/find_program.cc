#include "ringside/experiments/system/files/find_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace ringside {

std::string FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  // Debian keeps tc and ip in directories that are not in a normal user's PATH.
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (std::filesystem::path(folder) / name).string();
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string PathOfCommand(const std::string& command) {
  if (command.find('/') == std::string::npos) return FindProgram(command);
  return ::access(command.c_str(), X_OK) == 0 ? command : "";
}

std::string WhyNoCommand(const std::string& command) {
  if (command.find('/') == std::string::npos) {
    return "there is no program '" + command + "' in PATH";
  }
  if (::access(command.c_str(), F_OK) != 0) return "there is no program '" + command + "'";
  const std::string reason = "'" + command + "' is not executable";
  return command.ends_with(".py") ? reason + "; give its interpreter: python3 " + command : reason;
}

}  // namespace ringside
