#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "messages/base/random.hpp"
#include "pipelines/flow/stage_counters.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

/// Why a worker dies that a fault ends.
inline constexpr const char* crash_text =
  "ended on purpose (faults.crash_every)";

/// What goes wrong on purpose with the workers of one pool.
template <class Job>
struct worker_faults {
  /// Every n-th job of the pool ends its worker: in turn before the worker
  /// begins with it, and while the worker is at it. 0: none does.
  std::uint32_t crash_every = 0;
  /// A worker begins with a job after this. The time counts as work.
  std::chrono::milliseconds job_delay{0};
  /// A worker answers late, by up to this.
  std::chrono::milliseconds reply_delay{0};
  /// The part of a job that a worker does before it dies in the middle.
  /// Nothing: it does not begin. Empty: it does all of it up to where it waits
  /// for others. In no case does it answer.
  std::function<std::optional<Job>(const Job&)> half = {};

  bool any() const {
    return crash_every != 0 || job_delay.count() != 0
           || reply_delay.count() != 0;
  }
};

/// Decides which jobs of a pool go wrong. Thread-safe: all workers share it.
template <class Job>
class fault_plan {
public:
  enum class fate : std::uint8_t { none, dies_before, dies_midway };

  explicit fault_plan(worker_faults<Job> faults) : faults_(std::move(faults)) {}

  const worker_faults<Job>& faults() const { return faults_; }

  fate of_next_job() {
    if (faults_.crash_every == 0 || ++jobs_ % faults_.crash_every != 0)
      return fate::none;
    return ++strikes_ % 2 == 0 ? fate::dies_midway : fate::dies_before;
  }

  std::chrono::milliseconds delay_of_next_answer() {
    const auto most = static_cast<std::uint64_t>(faults_.reply_delay.count());
    return std::chrono::milliseconds{mix64(++answers_) % (most + 1)};
  }

private:
  const worker_faults<Job> faults_;
  std::atomic<std::uint64_t> jobs_{0}, strikes_{0}, answers_{0};
};

/// INTERNAL: a FAULTY WORKER has waited for long enough.
struct wait_over {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::wait_over)

namespace graphmill {

/// The FAULTY WORKER stands between a worker and its pool and makes it slow, or
/// ends it. Both are linked: they die together, for the same reason. It takes
/// one job at a time, as a pool gives them.
template <class Job, class Answer>
class faulty_worker {
public:
  using interface =
    typename worker_actor<Job, Answer>::template extend<takes<wait_over>>;
  static constexpr const char* name = "faulty_worker";

  faulty_worker(typename interface::pointer self,
                std::shared_ptr<fault_plan<Job>> plan,
                std::shared_ptr<stage_counters> counters,
                worker_actor<Job, Answer> worker)
    : self_(self), plan_(std::move(plan)), counters_(std::move(counters)),
      worker_(std::move(worker)) {
    self_->link_to(worker_);
  }

  typename interface::behavior_type make_behavior() {
    return {
      [this](const Job& job) -> caf::result<Answer> {
        promise_ = self_->template make_response_promise<Answer>();
        auto promise = promise_;
        job_ = job;
        left_ = plan_->faults().job_delay;
        hold();
        return promise;
      },
      [this](const wait_over&) { go_on(); },
    };
  }

private:
  /// Waits in pieces, so that a long delay counts as work while it lasts.
  void hold() {
    constexpr std::chrono::milliseconds longest_piece{250};
    piece_ = std::min(left_, longest_piece);
    if (piece_.count() == 0)
      begin();
    else
      post_later(handle_of<interface>(self_), piece_, wait_over{});
  }

  void go_on() {
    if (late_) {
      promise_.deliver(std::move(*std::exchange(late_, std::nullopt)));
      return;
    }
    counters_->worked(piece_, std::chrono::nanoseconds{0});
    left_ -= piece_;
    hold();
  }

  void begin() {
    auto job = std::move(*std::exchange(job_, std::nullopt));
    switch (plan_->of_next_job()) {
    case fault_plan<Job>::fate::dies_before:
      self_->quit(to_caf(fail(ec::crashed, crash_text)));
      return;
    case fault_plan<Job>::fate::dies_midway:
      begin_and_die(std::move(job));
      return;
    case fault_plan<Job>::fate::none:
      break;
    }
    if (plan_->faults().reply_delay.count() == 0)
      promise_.delegate(worker_, std::move(job));
    else
      answer_late(std::move(job));
  }

  /// The end comes right behind the job, before what the job waits for. It has
  /// the worker's own address: one of this actor would take the link off. The
  /// job has no answer, so that the pool gives this worker no other one, whose
  /// death it would count.
  void begin_and_die(Job job) {
    const auto& half = plan_->faults().half;
    if (auto part = half ? half(job) : std::optional{std::move(job)})
      post(worker_, *std::move(part));
    caf::anon_send(
      caf::actor_cast<caf::actor>(worker_),
      caf::exit_msg{worker_.address(), to_caf(fail(ec::crashed, crash_text))});
  }

  /// The pool limits how long this takes.
  void answer_late(Job job) {
    self_->request(worker_, caf::infinite, std::move(job))
      .then(
        [this](Answer& answer) {
          late_ = std::move(answer);
          post_later(handle_of<interface>(self_), plan_->delay_of_next_answer(),
                     wait_over{});
        },
        [this](const caf::error& reason) {
          if (is_answer(reason)) // Else the worker has died, and this ends.
            promise_.deliver(reason);
        });
  }

  typename interface::pointer self_;
  std::shared_ptr<fault_plan<Job>> plan_;
  std::shared_ptr<stage_counters> counters_; ///< Of the worker's stage.
  worker_actor<Job, Answer> worker_;
  std::optional<Job> job_;             ///< Held back.
  std::chrono::milliseconds left_{0};  ///< Of its delay.
  std::chrono::milliseconds piece_{0}; ///< Of that, until the timer comes.
  caf::typed_response_promise<Answer> promise_; ///< Of the latest job.
  std::optional<Answer> late_;                  ///< Held back.
};

/// Spawns the workers of a pool, each behind a FAULTY WORKER.
/// @param counters Of the stage. @param make Spawns a worker.
template <class Job, class Answer>
std::function<worker_actor<Job, Answer>(caf::actor_system&)>
with_faults(worker_faults<Job> faults, std::shared_ptr<stage_counters> counters,
            std::function<worker_actor<Job, Answer>(caf::actor_system&)> make) {
  return [plan = std::make_shared<fault_plan<Job>>(std::move(faults)),
          counters = std::move(counters),
          make = std::move(make)](caf::actor_system& system) {
    return worker_actor<Job, Answer>{spawn_state<faulty_worker<Job, Answer>>(
      system, plan, counters, make(system))};
  };
}

} // namespace graphmill
