#include <ringside/models/torch/torch_model_table.h>

int main() { return ringside::TorchModels().empty() ? 1 : 0; }
