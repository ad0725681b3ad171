#include <ringside/experiments/app/program/main.h>

#include <array>

int main() {
  std::array<char, 5> program{"main"};
  std::array<char, 10> flag{"--version"};
  std::array<char*, 2> arguments{program.data(), flag.data()};
  return ringside::Main(2, arguments.data());
}
