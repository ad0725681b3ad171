#include "ringside/experiments/checkpoint/safetensors_export.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAlignment = 8;  // of the values, as the format asks for

void AddTensor(Json& header, const std::string& name, const std::vector<std::int64_t>& shape,
               std::uint64_t& offset) {
  const auto values = static_cast<std::uint64_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
  const std::uint64_t end = offset + values * sizeof(float);
  header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {offset, end}}};
  offset = end;
}

}  // namespace

void ExportSafetensors(const CheckpointFile& checkpoint, const std::string& path) {
  const Checkpoint content = checkpoint.Load();
  Json header;
  header["__metadata__"] = {{"format", "pt"},
                            {"model", checkpoint.info().model},
                            {"step", std::to_string(checkpoint.info().steps_done)}};
  std::uint64_t offset = 0;
  for (const TensorFileReader::Section& section : checkpoint.sections()) {
    if (section.name != "parameters") continue;
    for (const NamedShape& tensor : section.tensors) {
      AddTensor(header, tensor.name, tensor.shape, offset);
    }
  }
  if (!content.buffers.empty()) {
    AddTensor(header, "buffers", {static_cast<std::int64_t>(content.buffers.size())}, offset);
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const auto length = std::bit_cast<std::array<std::byte, 8>>(std::uint64_t{text.size()});
  const std::array<std::span<const std::byte>, 4> parts{
      std::span<const std::byte>(length), std::as_bytes(std::span(text)),
      std::as_bytes(std::span<const float>(content.params)),
      std::as_bytes(std::span<const float>(content.buffers))};
  WriteFileAtomically(path, parts);
}

}  // namespace ringside
