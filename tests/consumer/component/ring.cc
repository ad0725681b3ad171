#include <ringside/ring/strategies/ring_strategies.h>

int main() { return ringside::RingStrategies().empty() ? 1 : 0; }
