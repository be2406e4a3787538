#pragma once

#include "actors/remote/remote_part.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace graphmill {

/// Asks the daemons of a run for data of their parts: one of those that serve a
/// part, and at once another one when that fails. Any of them gives the same
/// answer, and whatever is asked may be asked twice.
///
/// A daemon is *there* until a request to it fails since it is out of reach,
/// late, or does not serve the run any more. From then on it is *away*: what it
/// was being asked goes to the next owners at once, and so does all that comes.
/// Now and then a request is sent to it, too, whose answer nobody waits for;
/// with the first good answer it is there again. So a daemon that was cut off
/// for a while comes back, and one that was started anew, which has no share of
/// the run, does not.
///
/// A request goes to each owner that is there, one after the other, and when
/// that was of no use, once more to all owners, who have more time then. If
/// that fails, too, the request fails. A part with one owner is asked in this
/// last way alone.
///
/// Any thread may call it. No callback is called under its lock.
class failover : public std::enable_shared_from_this<failover> {
public:
  using clock = std::chrono::steady_clock;

  /// A way to ask a daemon. The first gives up soon if it cannot be reached.
  struct target {
    std::string name;
    remote_call brief;
    remote_call patient;
  };

  struct settings {
    std::function<clock::time_point()> now = clock::now;
    /// Takes a sentence when a daemon is away, or there again; may be empty.
    std::function<void(const std::string&)> tell;
    /// From when a daemon is away to the first request to see whether it is
    /// there again. The next one comes after twice that, up to the longest.
    std::chrono::milliseconds first_look{1000};
    std::chrono::milliseconds longest_look{30'000};
  };

  static std::shared_ptr<failover> over(std::vector<target> daemons,
                                        settings with);

  /// A way to ask for a part. Keeps this alive.
  /// @param owners Positions of daemons, in the order in which they are tried;
  /// not empty.
  part_call among(std::vector<std::size_t> owners);

private:
  using actions = std::vector<std::function<void()>>;

  /// What is asked, until it is answered.
  struct question {
    std::shared_ptr<const std::vector<std::size_t>> owners;
    method what = method::unset;
    payload data;
    part_reply on_reply;
    std::size_t tried = 0; ///< The owners before this one had their turn.
    std::size_t at = 0;    ///< The daemon whose turn it is.
    std::size_t open = 0;  ///< Calls that have not ended.
    bool of_all = false;   ///< All are asked, for the last time.
  };
  using questions = std::map<std::uint64_t, question>;

  struct health {
    bool away = false;
    bool told = false;                  ///< That it is away.
    std::chrono::milliseconds pause{0}; ///< To the next look.
    clock::time_point look_at{};
  };

  failover(std::vector<target> daemons, settings with);

  void ask(const std::shared_ptr<const std::vector<std::size_t>>& owners,
           method what, payload data, part_reply on_reply);
  void answered(std::uint64_t id, std::size_t daemon, result<payload> answer);

  // Under the lock. They add what is to be done without it.
  void pass_on(questions::iterator at, actions& todo);
  void send(questions::iterator at, std::size_t daemon, bool brief,
            actions& todo);
  void look(const question& asked, actions& todo);
  void is_away(std::size_t daemon, const error& reason, actions& todo);
  void is_there(std::size_t daemon, actions& todo);
  void say(std::string sentence, actions& todo) const;

  const std::vector<target> daemons_;
  const settings with_;
  std::mutex mutex_; ///< Of all below.
  std::vector<health> health_;
  std::uint64_t last_ = 0;
  questions open_;
};

} // namespace graphmill
