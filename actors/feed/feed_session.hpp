#pragma once

#include "actors/feed/feed_frames.hpp"
#include "messages/base/error.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// What a consumer may do, and when. It has no socket and no clock.
///
///     fresh -- open --> open -- begin --> in a pass -- begin --> in the next
///       |                 |                   |
///       '-----------------'---- lost ---------'--> over
///
/// Each function fails if its event does not belong there: the consumer is then
/// to be told, and the feed is over.
class feed_session {
public:
  /// The request has been carried out. @param steps Of each epoch.
  result<void> open(std::int64_t steps);
  /// Either all passes have seeds of their own, or none has. A batch is known
  /// by its place in an epoch, whatever the seeds of its pass. So all batches
  /// of a pass with own seeds must be returned before the next one begins.
  result<void> begin(const feed_pass& pass);
  result<void> give_back(const std::vector<batch_back>& batches);
  result<void> judge() const;

private:
  enum class state : std::uint8_t { fresh, open, in_pass };

  state where_ = state::fresh;
  std::int64_t steps_ = 0;
  std::uint64_t pass_ = 0;
  std::int64_t due_ = 0; ///< Batches of the pass that have not been returned.
  bool own_seeds_ = false;
};

} // namespace graphmill
