#pragma once

#include "messages/wire/run.hpp"
#include "pipelines/results/named_tensor.hpp"
#include "pipelines/results/safetensors.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The piece of some tensors that a request asks for, as the answer to it.
/// @param tensors May be null: there are none. Fails if the piece is not in
/// them, or has more than 32 MiB.
result<payload>
piece_in(const std::shared_ptr<const std::vector<named_tensor>>& tensors,
         const weights_request& wanted);

/// Brings tensors of another daemon together, of which only the shapes are
/// known, piece by piece in their order. Whoever asks for the pieces calls
/// `next` and `take` in turn, and `done` after the last. Room is made for all of
/// a tensor: shapes must be those that the asker expects, not what anybody says.
class tensor_intake {
public:
  explicit tensor_intake(std::vector<tensor_shape> shapes = {})
    : shapes_(std::move(shapes)) {}

  /// What to ask for next, in a request of the run `run`; nothing once all has
  /// come.
  std::optional<weights_request> next(const std::string& run);

  /// Takes the answer to what `next` named.
  result<void> take(const payload& answer);

  /// The tensors. @pre `next` has given nothing
  std::vector<named_tensor> done() { return std::move(tensors_); }

  /// The digest of those that are weights. @pre as of `done`
  std::string weights_digest() const { return weights_.digest(); }

private:
  std::vector<tensor_shape> shapes_;
  std::vector<named_tensor> tensors_;
  std::uint64_t asked_ = 0; ///< Values of the piece under way.
  weights_hash weights_;    ///< Of what has come.
};

} // namespace graphmill
