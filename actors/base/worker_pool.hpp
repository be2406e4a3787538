#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/base/ticket_table.hpp"
#include "actors/base/timeouts.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/health/actor_gauge.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// How a WORKER POOL supervises its workers.
struct worker_pool_config {
  std::string stage;         ///< Name in reports and errors.
  std::uint32_t workers = 1; ///< At least 1.
  /// For one job. The time it waits for a worker does not count.
  std::chrono::milliseconds job_timeout = timeouts::service_job;
  std::uint32_t attempts = 3;            ///< Workers a job may cost.
  std::chrono::milliseconds backoff{10}; ///< First wait before a respawn.
  std::chrono::milliseconds longest_backoff{5000};
  /// Idle time of workers counts as waiting for credit, not for input: true for
  /// the first stage, whose input is always there.
  bool idle_is_credit = false;
  /// Workers ask others for what a job needs: their time with one is work only
  /// as far as they count it as such.
  bool asks_others = false;
  std::shared_ptr<actor_gauge> gauge; ///< Null: nobody looks at it.
  /// Told of each worker that has died, and why. Empty: nobody is.
  std::function<void(const std::string& why)> on_death;
};

/// INTERNAL: the pause is over after which a WORKER POOL respawns workers.
struct backoff_over {};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::backoff_over)

namespace graphmill {

/// The WORKER POOL gives each idle worker one job at a time, in the order of
/// arrival. A worker that dies is replaced with exponential back-off, and its
/// job given to another; a job that costs `attempts` workers fails with an
/// error that names the stage and the cause. Errors that workers answer are
/// passed on. A job that says until when it is wanted (`until`) is not begun
/// afterwards.
template <class Job, class Answer>
class worker_pool {
public:
  using interface = caf::typed_actor<answers<Job, Answer>, takes<backoff_over>>;
  using worker = worker_actor<Job, Answer>;
  using factory = std::function<worker(caf::actor_system&)>;
  static constexpr const char* name = "worker_pool";

  worker_pool(typename interface::pointer self, worker_pool_config config,
              factory make, std::shared_ptr<stage_counters> counters)
    : self_(self), config_(std::move(config)), make_(std::move(make)),
      counters_(std::move(counters)), backoff_(config_.backoff) {
    config_.workers = std::max(1u, config_.workers);
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{}, config_.workers);
    deaths_.install(self_);
    self_->set_exit_handler([this](const caf::exit_msg& exit) {
      fail_all(fail(ec::cancelled, "{} is shutting down", config_.stage));
      self_->quit(exit.reason);
    });
    slots_.resize(config_.workers);
    for (std::size_t i = 0; i < slots_.size(); ++i)
      fill(i);
  }

  ~worker_pool() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      stop_actor(slots_[i].handle);
      config_.gauge->enter(actor_state::stopped, i);
    }
  }

  typename interface::behavior_type make_behavior() {
    return {
      [this](const Job& job) -> caf::result<Answer> {
        auto promise = self_->template make_response_promise<Answer>();
        queue_.push_back({job, promise, clock::now()});
        assign();
        return promise;
      },
      [this](const backoff_over&) { respawn(); },
    };
  }

private:
  using clock = std::chrono::steady_clock;
  using promise_type = caf::typed_response_promise<Answer>;

  struct pending {
    Job job;
    promise_type promise;
    clock::time_point since{}; ///< When it was asked for.
    std::uint32_t deaths = 0;  ///< Workers it has cost so far.
  };

  struct slot {
    worker handle;
    std::uint64_t running = 0; ///< Ticket of its job; 0 = idle.
    clock::time_point idle_since{};
    clock::time_point given{}; ///< Its job, if it has one.
  };

  void rest(std::size_t i) {
    slots_[i].idle_since = clock::now();
    config_.gauge->enter(
      config_.idle_is_credit ? actor_state::stalled : actor_state::starved, i);
  }

  void fill(std::size_t i) {
    auto& slot = slots_[i];
    slot.handle = make_(self_->home_system());
    slot.running = 0;
    rest(i);
    deaths_.watch(self_, slot.handle,
                  [this, i](const caf::error& reason) { on_death(i, reason); });
  }

  void assign() {
    for (std::size_t i = 0; i < slots_.size() && !queue_.empty(); ++i) {
      if (!slots_[i].handle || slots_[i].running != 0)
        continue;
      drop_late();
      if (!queue_.empty())
        give(i);
    }
    config_.gauge->queued(queue_.size());
  }

  /// Until the next job is one that somebody waits for.
  void drop_late() {
    if constexpr (requires(Job job) { job.until; })
      while (!queue_.empty() && queue_.front().job.until < clock::now()) {
        queue_.front().promise.deliver(to_caf(asked_in_vain()));
        queue_.pop_front();
      }
  }

  void give(std::size_t i) {
    auto& slot = slots_[i];
    slot.given = clock::now();
    const auto idle = slot.given - slot.idle_since;
    if (config_.idle_is_credit)
      counters_->waited_for_credit(idle);
    else
      counters_->waited_for_input(idle);
    auto job = queue_.front().job;
    const auto ticket = running_.add(std::move(queue_.front()));
    queue_.pop_front();
    slot.running = ticket;
    if constexpr (requires { job.key; })
      config_.gauge->works_on(job.key, i);
    config_.gauge->enter(actor_state::running, i);
    requests_.ask(self_, slot.handle, config_.job_timeout, std::move(job))
      .then(
        [this, i, ticket](Answer& answer) {
          if (auto done = retire(i, ticket)) {
            backoff_ = config_.backoff;
            deliver(*done, std::move(answer));
          }
          assign();
        },
        [this, i, ticket](const caf::error& reason) {
          on_error(i, ticket, reason);
        });
  }

  /// Takes a job off its worker; nothing if it has been taken off before.
  std::optional<pending> retire(std::size_t i, std::uint64_t ticket) {
    auto done = running_.take(ticket);
    if (done && slots_[i].running == ticket) {
      slots_[i].running = 0;
      rest(i);
      if (config_.asks_others)
        counters_->held(slots_[i].idle_since - slots_[i].given);
    }
    return done;
  }

  void on_error(std::size_t i, std::uint64_t ticket, const caf::error& reason) {
    if (is_answer(reason)) {
      if (auto failed = retire(i, ticket))
        failed->promise.deliver(reason);
      assign();
      return;
    }
    // A hung worker counts as a dead one. In either case its DOWN message
    // brings the job back. If it has before, the slot has another worker now.
    if (slots_[i].running == ticket
        && from_caf(reason, config_.stage).code == ec::timeout)
      caf::anon_send_exit(slots_[i].handle, caf::exit_reason::kill);
  }

  void on_death(std::size_t i, const caf::error& reason) {
    counters_->restarted();
    const auto ticket = slots_[i].running;
    requests_.give_up(slots_[i].handle);
    slots_[i].handle = worker{};
    if (auto lost = retire(i, ticket))
      retry(std::move(*lost), reason);
    const auto why = from_caf(reason, config_.stage).message;
    config_.gauge->enter(actor_state::restarting, i);
    config_.gauge->restarted(why);
    if (config_.on_death)
      config_.on_death(why);
    assign(); // Another worker may be idle.
    post_later(handle_of<interface>(self_), backoff_, backoff_over{});
    backoff_ = std::min(2 * backoff_, config_.longest_backoff);
  }

  void retry(pending lost, const caf::error& reason) {
    if (++lost.deaths < config_.attempts) {
      queue_.push_front(std::move(lost));
      return;
    }
    const auto cause = from_caf(reason, config_.stage);
    lost.promise.deliver(
      to_caf(fail(ec::internal, "{} gave up on a job that ended {} workers: {}",
                  config_.stage, config_.attempts, cause.message)));
  }

  void deliver(pending& done, Answer answer) {
    std::uint64_t bytes = 0;
    if constexpr (requires { answer.byte_size(); })
      bytes = answer.byte_size();
    config_.gauge->done(clock::now() - done.since, bytes);
    done.promise.deliver(std::move(answer));
  }

  void respawn() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].handle)
        fill(i);
    assign();
  }

  void fail_all(const error& reason) {
    for (auto& waiting : queue_)
      waiting.promise.deliver(to_caf(reason));
    for (auto& job : running_.take_all())
      job.promise.deliver(to_caf(reason));
    queue_.clear();
  }

  typename interface::pointer self_;
  worker_pool_config config_;
  factory make_;
  std::shared_ptr<stage_counters> counters_;
  down_watch deaths_;
  request_watch requests_;
  std::vector<slot> slots_;
  std::deque<pending> queue_;
  ticket_table<pending> running_;
  std::chrono::milliseconds backoff_;
};

} // namespace graphmill
