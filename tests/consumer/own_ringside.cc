// Ringside with a strategy, a collective, a model and a dataset of one's own.
#include <ringside/experiments/app/program/main.h>

#include "own_collective.h"
#include "own_dataset.h"
#include "own_model.h"
#include "own_strategy.h"

int main(int argc, char** argv) {
  return ringside::Main(argc, argv,
                        {.strategies = {OwnStrategy()},
                         .collectives = {OwnCollective()},
                         .models = {OwnModel()},
                         .datasets = {OwnDataset()}});
}
