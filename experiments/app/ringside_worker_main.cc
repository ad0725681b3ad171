// The program `ringside-worker`: `ringside` with libtorch and its models. `ringside` starts it as
// the worker of a run whose model needs libtorch.
#include "ringside/experiments/app/program/main.h"
#include "ringside/models/torch/torch_model_table.h"

int main(int argc, char** argv) {
  return ringside::Main(argc, argv, {.models = ringside::TorchModels()});
}
