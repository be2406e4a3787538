#include "actors/cluster/recovery/kept_state.hpp"

#include "actors/cluster/base/tensor_pieces.hpp"
#include "pipelines/results/run_positions.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

void kept_state::keep(content what, clock::time_point until) {
  auto run = what.run;
  kept_.insert_or_assign(std::move(run), entry{std::move(what), until});
}

void kept_state::keep_only(const std::vector<std::string>& runs) {
  std::erase_if(kept_, [&runs](const auto& kept) {
    return std::ranges::find(runs, kept.first) == runs.end();
  });
}

void kept_state::look(clock::time_point now) {
  std::erase_if(kept_,
                [now](const auto& kept) { return now >= kept.second.until; });
}

member_reply kept_state::of(const std::string& run) const {
  member_reply out;
  const auto found = kept_.find(run);
  if (found == kept_.end())
    return out;
  const auto& kept = found->second.what;
  const auto& [at, so_far, tensors] = kept.state;
  out.kept = wire_form(at, so_far);
  out.kept_attempt = kept.attempt;
  out.trainers.push_back({kept.rank, kept.digest, at.train_steps});
  for (const auto& tensor : *tensors)
    out.tensors.push_back({tensor.name, tensor.shape});
  return out;
}

result<payload> kept_state::piece(const weights_request& wanted) const {
  const auto found = kept_.find(wanted.run);
  if (found == kept_.end())
    return fail(ec::not_found, "nothing is kept of run {} here", wanted.run);
  return piece_in(found->second.what.state.tensors, wanted);
}

} // namespace graphmill
