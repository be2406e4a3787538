#pragma once

#include "actors/transport/sessions/message.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <vector>

namespace graphmill {

/// The connections that others have opened to our port, by descriptor. Whoever
/// has not said who it is, in a handshake of ours, is a stranger. The number of
/// strangers and their time are limited: the oldest are to be ended first. So
/// those who connect and say nothing can neither take the descriptors of others
/// nor keep them from connecting. Has no clock and ends nothing itself.
class arrivals {
public:
  arrivals(std::size_t most_strangers, session_time::duration patience)
    : most_(most_strangers), patience_(patience) {}

  /// A connection was opened, or its other end is a stranger again.
  void opened(session_time now, int descriptor);
  /// Its other end has said who it is, or it is closed.
  void settled(int descriptor);

  /// Strangers that are to be ended. Each is given once.
  std::vector<int> excess(session_time now);
  /// The older half of the strangers, to be ended because descriptors are
  /// needed.
  std::vector<int> older_half();

  bool is_stranger(int descriptor) const { return index_.contains(descriptor); }
  std::size_t strangers() const { return index_.size(); }

  /// When `excess` has something to say, if nothing else happens.
  session_time next_tick() const;

private:
  struct stranger {
    int descriptor = -1;
    session_time since;
  };

  void take_oldest(std::vector<int>& out);

  std::size_t most_;
  session_time::duration patience_;
  std::list<stranger> strangers_; ///< Oldest first.
  std::map<int, std::list<stranger>::iterator> index_;
};

} // namespace graphmill
