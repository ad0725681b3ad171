#include "ringside/models/networks/mlp.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/models/networks/network_builder.h"

namespace ringside {

Network MlpNetwork(const ModelOptions& options) {
  const std::vector<int> widths =
      options.widths.empty() ? std::vector<int>{2048, 2048} : options.widths;
  if (std::ranges::any_of(widths, [](int width) { return width < 1; }))
    throw ConfigError("a width of a hidden layer must be at least 1");
  NetworkBuilder network(options);
  network.Flatten();
  int index = 1;
  for (const int width : widths) {
    network.Linear("linear" + std::to_string(index++), static_cast<std::size_t>(width)).Relu();
  }
  network.Logits("linear" + std::to_string(index));
  return network.Take();
}

}  // namespace ringside
