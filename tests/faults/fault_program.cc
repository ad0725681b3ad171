// ringside with the model of `update_ledger.h`, for jobs of real processes.
#include "ringside/experiments/app/program/main.h"
#include "tests/experiments/job/launcher/update_ledger.h"

int main(int argc, char** argv) { return ringside::Main(argc, argv, ringside::LedgerExtensions()); }
