// The program `ringside`. It has every model that needs no libtorch, and never loads libtorch.
#include "ringside/experiments/app/program/main.h"

int main(int argc, char** argv) { return ringside::Main(argc, argv); }
