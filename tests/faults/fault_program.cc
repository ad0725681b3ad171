// ringside whose members do wrong where a variable says so, with the model of `update_ledger.h`.
#include "ringside/experiments/app/program/main.h"
#include "tests/faults/planned_fault.h"
#include "tests/faults/update_ledger.h"

int main(int argc, char** argv) {
  ringside::InstallPlannedFault();
  return ringside::Main(argc, argv, ringside::LedgerExtensions());
}
