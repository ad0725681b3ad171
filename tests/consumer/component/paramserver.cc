#include <ringside/paramserver/strategies/ps_strategies.h>

int main() { return ringside::ServerStrategies().empty() ? 1 : 0; }
