// Transformers of width 768 with 12 blocks, built from the rules of their papers. A layer here is a
// linear layer with the normalisation beside it.
//
// MACs for a sequence of T tokens: T x (elements of the weight) for a linear layer, and 2 T^2 x
// width for the attention itself (scores and their product with the values). The attention counts
// with the layer that makes query, key and value. Looking up an embedding is not counted.
#include "ringside/models/profile/text_profiles.h"

#include <string>
#include <utility>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t kWidth = 768;
constexpr std::size_t kBlocks = 12;

std::vector<TensorSpec> LinearTensors(const std::string& name, std::size_t inputs,
                                      std::size_t outputs) {
  return {{name + ".weight", inputs * outputs}, {name + ".bias", outputs}};
}

std::vector<TensorSpec> NormTensors(const std::string& name) {
  return {{name + ".weight", kWidth}, {name + ".bias", kWidth}};
}

ProfileLayer LinearLayer(const std::string& name, std::size_t tokens, std::size_t inputs,
                         std::size_t outputs) {
  return {static_cast<double>(tokens * inputs * outputs), LinearTensors(name, inputs, outputs)};
}

double AttentionMacs(std::size_t tokens) {
  return 2.0 * static_cast<double>(tokens) * static_cast<double>(tokens) * kWidth;
}

void Append(std::vector<TensorSpec>& to, std::vector<TensorSpec> tensors) {
  for (TensorSpec& tensor : tensors) to.push_back(std::move(tensor));
}

// Normalisation after each half of the block. Query, key and value are three layers.
void AppendBertBlock(Profile& profile, const std::string& name, std::size_t tokens) {
  for (const char* part : {".query", ".key", ".value"})
    profile.layers.push_back(LinearLayer(name + ".attention" + part, tokens, kWidth, kWidth));
  profile.layers.back().macs += AttentionMacs(tokens);
  profile.layers.push_back(LinearLayer(name + ".attention.output", tokens, kWidth, kWidth));
  Append(profile.layers.back().tensors, NormTensors(name + ".attention.norm"));
  profile.layers.push_back(LinearLayer(name + ".intermediate", tokens, kWidth, 4 * kWidth));
  profile.layers.push_back(LinearLayer(name + ".output", tokens, 4 * kWidth, kWidth));
  Append(profile.layers.back().tensors, NormTensors(name + ".norm"));
}

// Adds the normalisation before the layer that reads its result.
ProfileLayer AfterNorm(const std::string& norm, ProfileLayer layer) {
  std::vector<TensorSpec> tensors = NormTensors(norm);
  Append(tensors, std::move(layer.tensors));
  return {layer.macs, std::move(tensors)};
}

// Normalisation before each half of the block. Query, key and value are one layer.
void AppendGpt2Block(Profile& profile, const std::string& name, std::size_t tokens) {
  profile.layers.push_back(
      AfterNorm(name + ".ln_1", LinearLayer(name + ".attn.c_attn", tokens, kWidth, 3 * kWidth)));
  profile.layers.back().macs += AttentionMacs(tokens);
  profile.layers.push_back(LinearLayer(name + ".attn.c_proj", tokens, kWidth, kWidth));
  profile.layers.push_back(
      AfterNorm(name + ".ln_2", LinearLayer(name + ".mlp.c_fc", tokens, kWidth, 4 * kWidth)));
  profile.layers.push_back(LinearLayer(name + ".mlp.c_proj", tokens, 4 * kWidth, kWidth));
}

}  // namespace

Profile BertBaseProfile() {
  constexpr std::size_t kTokens = 512;
  constexpr std::size_t kVocabulary = 30'522;
  Profile profile;
  std::vector<TensorSpec> embeddings{{"embeddings.word", kVocabulary * kWidth},
                                     {"embeddings.position", kTokens * kWidth},
                                     {"embeddings.token_type", 2 * kWidth}};
  Append(embeddings, NormTensors("embeddings.norm"));
  profile.layers.push_back({0, std::move(embeddings)});
  for (std::size_t i = 0; i < kBlocks; ++i)
    AppendBertBlock(profile, "layer." + std::to_string(i), kTokens);
  profile.layers.push_back(LinearLayer("pooler", 1, kWidth, kWidth));  // of the first token alone
  return profile;
}

Profile Gpt2Profile() {
  constexpr std::size_t kTokens = 1024;
  constexpr std::size_t kVocabulary = 50'257;
  Profile profile;
  profile.layers.push_back({0, {{"wte", kVocabulary * kWidth}, {"wpe", kTokens * kWidth}}});
  for (std::size_t i = 0; i < kBlocks; ++i)
    AppendGpt2Block(profile, "h." + std::to_string(i), kTokens);
  // The logits use the word embedding again. The compute is here, but the gradient is final only
  // when the backward pass has reached the first layer.
  profile.layers.push_back(
      {static_cast<double>(kTokens * kVocabulary * kWidth), NormTensors("ln_f")});
  return profile;
}

}  // namespace ringside
