#pragma once

#include "actors/base/timeouts.hpp"
#include "messages/work/work_gauge.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace graphmill {

/// The WORK WATCH of a process: names in the log who has been at one piece of
/// work for too long, a message of an actor or a job of a thread, once, and
/// once more when that is over. It ends nothing: slow is not dead.
///
/// Time counts from the first look that finds the work, and only while it is
/// looked at: that the process was stopped is nobody's delay.
///
/// `enter` and `long_work` are for any thread, the rest for one.
class work_watch {
public:
  using clock = std::chrono::steady_clock;

  explicit work_watch(std::chrono::milliseconds limit = timeouts::work_report)
    : limit_(limit) {}

  /// Who is watched from now on, until the gauge is given up.
  std::shared_ptr<work_gauge> enter(std::string who);

  struct news {
    std::string sentence;
    bool over = false; ///< It goes on.
  };
  /// Looks if that is due. @returns what is to be told, a few sentences.
  std::vector<news> look(clock::time_point now);

  /// Who has been at one piece of work for too long, and who was until a minute
  /// ago: a few sentences.
  std::vector<std::string> long_work();

  /// Looks if that is due, and logs what is to be told.
  void report(spdlog::logger& log, clock::time_point now = clock::now());

private:
  struct watched {
    std::weak_ptr<work_gauge> gauge;
    std::uint64_t turns = 0; ///< As of the last look.
    std::chrono::milliseconds at{0};
    std::string told{}; ///< Whom and what the log has been told of.
  };

  void look_at(watched& one, std::chrono::milliseconds passed,
               std::vector<news>& out) const;

  void note_over(const std::vector<news>& told, clock::time_point now);

  struct ended {
    clock::time_point when;
    std::string sentence;
  };

  const std::chrono::milliseconds limit_;
  clock::time_point last_{};
  std::mutex mutex_; ///< Guards what follows.
  std::vector<watched> all_;
  std::deque<ended> over_; ///< Of the last minute, the oldest first.
};

} // namespace graphmill
