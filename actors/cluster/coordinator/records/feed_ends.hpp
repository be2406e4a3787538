#pragma once

#include "actors/transport/sessions/responder.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace graphmill {

class run_archive;

/// Tells consumers how their feeds stand, and why those that are over have
/// ended: records of runs have sentences alone. Of the COORDINATOR's state,
/// used in its handlers alone.
class feed_ends {
public:
  /// Reasons that are kept; consumers ask within seconds.
  static constexpr std::size_t most = 256;

  explicit feed_ends(run_archive& archive) : archive_(archive) {}

  /// A feed is over.
  void note(const std::string& run, const std::optional<error>& failure);

  /// Answers `feed_state`.
  void tell(const payload& request, const responder& reply) const;

private:
  std::optional<ec> code_of(const std::string& run) const;

  run_archive& archive_;
  std::deque<std::pair<std::string, ec>> ends_; ///< The oldest first.
};

} // namespace graphmill
