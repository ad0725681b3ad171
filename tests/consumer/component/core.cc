#include <ringside/common/security/secrets.h>

int main() { return ringside::MakeToken().size() == 64 ? 0 : 1; }
