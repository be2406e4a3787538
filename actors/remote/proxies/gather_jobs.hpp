#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/base/timeouts.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace graphmill {

/// Jobs of an actor for the FEATURE SERVICES of several parts: one at a time
/// for each part, the parts side by side. Not thread-safe; its actor's alone.
template <class Self>
class gather_jobs {
public:
  /// @param services By part.
  gather_jobs(Self* self, std::vector<feature_service_actor> services)
    : self_(self), services_(std::move(services)), waiting_(services_.size()) {}

  /// @param then Called when the job is done.
  void add(part_id part, gather_job job, std::function<void()> then) {
    waiting_[static_cast<std::size_t>(part)].emplace_back(std::move(job),
                                                          std::move(then));
    ++total_;
  }

  /// Does what was added. Calls `step` with how many of them are done, and at
  /// last `end`, with the first error if there is one.
  void run(std::function<void(std::size_t done, std::size_t of)> step,
           std::function<void(result<void>)> end) {
    step_ = std::move(step);
    end_ = std::move(end);
    if (total_ == 0)
      finish(ok());
    else
      for (std::size_t part = 0; part < waiting_.size(); ++part)
        next(part);
  }

private:
  void next(std::size_t part) {
    if (waiting_[part].empty() || !end_)
      return;
    auto [job, then] = std::move(waiting_[part].front());
    waiting_[part].pop_front();
    requests_.ask(self_, services_[part], timeouts::gather_job, std::move(job))
      .then(
        [this, part, then = std::move(then)](const gather_answer&) {
          if (!end_)
            return;
          then();
          step_(++done_, total_);
          if (done_ == total_)
            finish(ok());
          else
            next(part);
        },
        [this](const caf::error& reason) {
          finish(from_caf(reason, "a feature service"));
        });
  }

  /// Whoever is told may add and run more.
  void finish(result<void> how) {
    total_ = done_ = 0;
    if (const auto end = std::exchange(end_, {}))
      end(std::move(how));
  }

  Self* self_;
  request_watch requests_;
  std::vector<feature_service_actor> services_;
  std::vector<std::deque<std::pair<gather_job, std::function<void()>>>>
    waiting_;
  std::function<void(std::size_t, std::size_t)> step_;
  std::function<void(result<void>)> end_;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
};

} // namespace graphmill
