#pragma once

#include "actors/cluster/base/tensor_pieces.hpp"
#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/recovery/kept_offers.hpp"
#include "messages/wire/frame.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <spdlog/fwd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// Finds what daemons have kept of a run, for its next attempt: asks all that
/// may have it, and fetches the state that is furthest. If its daemon does not
/// give that, the next best is tried. The run owns it (`active_run::search`),
/// and lets go of it when it has ended. Used in the COORDINATOR's handlers.
class kept_search : public std::enable_shared_from_this<kept_search> {
public:
  /// @param found Nothing: no daemon has anything of use.
  using callback =
    std::function<void(const run_ptr&, std::optional<training_state> found)>;

  /// Begins a search. @param then Called once, when it has ended.
  static void begin(const leading_parts& with, const run_ptr& run,
                    callback then);

  kept_search(const leading_parts& with, const run_ptr& run, callback then);

  /// Ends with nothing: nobody needs the state any more.
  void break_off();

private:
  run_ptr run_if_on() const;
  void ask_daemons(const run_ptr& run);
  void take(const submitted_run& run, kept_offer offer);
  void choose(const run_ptr& run);
  void try_offer(const run_ptr& run);
  void fetch(const run_ptr& run);
  void take_piece(const run_ptr& run, const result<payload>& answer);
  void pass_over(const run_ptr& run, const error& reason);
  void end(const run_ptr& run, std::optional<training_state> found);
  std::shared_ptr<spdlog::logger> log(const submitted_run& run) const;

  leading_parts with_;
  std::weak_ptr<submitted_run> run_;
  callback then_;
  std::int64_t epochs_told_ = 0;   ///< By the metrics in its folder.
  std::size_t owing_ = 0;          ///< Daemons that have not answered.
  std::vector<kept_offer> offers_; ///< In the end the best first.
  tensor_intake tensors_;          ///< Of the first.
};

} // namespace graphmill
