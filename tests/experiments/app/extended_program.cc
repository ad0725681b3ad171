// A program as a user would write it: ringside with the user's own entries.
#include "ringside/experiments/app/program/main.h"
#include "tests/experiments/extension_entries.h"

int main(int argc, char** argv) { return ringside::Main(argc, argv, ringside::OwnExtensions()); }
