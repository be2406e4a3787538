#include "actors/cluster/recovery/kept_state.hpp"

#include "actors/cluster/base/tensor_pieces.hpp"
#include "pipelines/results/run_positions.hpp"

#include <utility>

namespace graphmill {

void kept_state::keep(content what, clock::time_point until) {
  kept_ = std::move(what);
  until_ = until;
}

void kept_state::look(clock::time_point now) {
  if (kept_ && now >= until_)
    kept_.reset();
}

member_reply kept_state::of(const std::string& run) const {
  member_reply out;
  if (!kept_ || kept_->run != run)
    return out;
  const auto& [at, so_far, tensors] = kept_->state;
  out.kept = wire_form(at, so_far);
  out.kept_attempt = kept_->attempt;
  out.trainers.push_back({kept_->rank, kept_->digest, at.train_steps});
  for (const auto& tensor : *tensors)
    out.tensors.push_back({tensor.name, tensor.shape});
  return out;
}

result<payload> kept_state::piece(const weights_request& wanted) const {
  if (!kept_ || kept_->run != wanted.run)
    return fail(ec::not_found, "nothing is kept of run {} here", wanted.run);
  return piece_in(kept_->state.tensors, wanted);
}

} // namespace graphmill
