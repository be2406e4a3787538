#include "actors/cluster/base/tensor_pieces.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace graphmill {

namespace {

/// A message holds no more than that: 32 MiB.
constexpr std::uint64_t most_values_at_once = std::uint64_t{8} << 20;

/// Values of one request for weights: 16 MiB.
constexpr std::uint64_t asked_values = std::uint64_t{4} << 20;

} // namespace

result<payload>
piece_in(const std::shared_ptr<const std::vector<named_tensor>>& tensors,
         const weights_request& wanted) {
  if (!tensors || wanted.tensor >= tensors->size())
    return fail(ec::not_found, "there is no tensor {} of run {} here",
                wanted.tensor, wanted.run);
  const auto& values = (*tensors)[wanted.tensor].values;
  if (wanted.count > most_values_at_once || wanted.offset > values.size()
      || wanted.count > values.size() - wanted.offset)
    return fail(ec::invalid_argument,
                "tensor {} has {} values; {} from {} on are too many",
                wanted.tensor, values.size(), wanted.count, wanted.offset);
  return encode_weights(std::span{values}.subspan(wanted.offset, wanted.count));
}

std::optional<weights_request> tensor_intake::next(const std::string& run) {
  while (tensors_.empty()
         || tensors_.back().values.size()
              == shapes_[tensors_.size() - 1].size()) {
    if (tensors_.size() == shapes_.size())
      return std::nullopt;
    const auto& shape = shapes_[tensors_.size()];
    tensors_.push_back({shape.name, shape.shape, {}});
    tensors_.back().values.reserve(shape.size());
    if (is_weight(shape.name))
      weights_.begin(shape.name, shape.shape);
  }
  const auto index = tensors_.size() - 1;
  weights_request wanted;
  wanted.run = run;
  wanted.tensor = static_cast<std::uint32_t>(index);
  wanted.offset = tensors_.back().values.size();
  wanted.count = std::min(asked_values, shapes_[index].size() - wanted.offset);
  asked_ = wanted.count;
  return wanted;
}

result<void> tensor_intake::take(const payload& answer) {
  auto& values = tensors_.back().values;
  const auto offset = values.size();
  values.resize(offset + asked_);
  const auto piece = std::span{values}.subspan(offset);
  GRAPHMILL_TRYV(decode_weights(answer, piece));
  if (is_weight(tensors_.back().name))
    weights_.add(piece);
  return ok();
}

} // namespace graphmill
