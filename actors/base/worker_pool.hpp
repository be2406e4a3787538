#pragma once

#include "actors/base/caf_compat.hpp"
#include "actors/base/interfaces.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/base/ticket_table.hpp"
#include "actors/base/timeouts.hpp"
#include "messages/base/random.hpp"
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
  /// Fault: every n-th job ends its worker, in turn as the worker takes it and
  /// while the worker is at it: where a handler does not wait, by the job's
  /// `crash_midway`, if it has one; else after it has answered.
  std::uint32_t crash_every = 0;
  std::uint32_t reply_delay_ms = 0; ///< Fault: answers late by up to this.
  /// Fault: a worker that takes a job begins with it after this. The time
  /// counts as work.
  std::chrono::milliseconds job_delay{0};
};

/// A timer of a WORKER POOL: releases a late answer, has a worker begin with
/// the job that a fault held back, or respawns workers if neither is told.
struct pool_timer {
  std::uint64_t answer = 0;
  std::uint64_t job = 0;  ///< Ticket of the job.
  std::size_t worker = 0; ///< Who took it.
};

} // namespace graphmill

GRAPHMILL_LOCAL_MESSAGE(graphmill::pool_timer)

namespace graphmill {

/// Why a worker dies that a fault ends.
inline constexpr const char* crash_text =
  "ended on purpose (faults.crash_every)";

/// The WORKER POOL gives each idle worker one job at a time, in the order of
/// arrival. A worker that dies is replaced with exponential back-off, and its
/// job given to another; a job that costs `attempts` workers fails with an
/// error that names the stage and the cause. Errors that workers answer are
/// passed on. A job that says until when it is wanted (`until`) is not begun
/// afterwards.
template <class Job, class Answer>
class worker_pool {
public:
  using interface = caf::typed_actor<answers<Job, Answer>, takes<pool_timer>>;
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
      [this](const pool_timer& timer) { on_timer(timer); },
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
    bool doomed = false;       ///< Will end soon: gets no other job.
    clock::time_point idle_since{};
    clock::time_point given{};             ///< Its job, if it has one.
    std::optional<Job> held;               ///< By a fault: it has yet to begin.
    std::chrono::milliseconds held_for{0}; ///< From now on.
    std::chrono::milliseconds piece{0};    ///< Of that, until the timer comes.
  };

  /// An answer that a fault holds back.
  struct late_answer {
    promise_type promise;
    Answer answer;
    clock::time_point since{};
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
    slot.doomed = false;
    rest(i);
    deaths_.watch(self_, slot.handle,
                  [this, i](const caf::error& reason) { on_death(i, reason); });
  }

  void assign() {
    for (std::size_t i = 0; i < slots_.size() && !queue_.empty(); ++i) {
      if (!slots_[i].handle || slots_[i].running != 0 || slots_[i].doomed)
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
    const auto strikes =
      config_.crash_every != 0 && ++given_ % config_.crash_every == 0;
    slot.doomed = strikes && ++strikes_ % 2 == 0;
    job.crash = strikes && !slot.doomed;
    if constexpr (requires { job.crash_midway; })
      job.crash_midway = slot.doomed;
    slot.running = ticket;
    if constexpr (requires { job.key; })
      config_.gauge->works_on(job.key, i);
    config_.gauge->enter(actor_state::running, i);
    if (config_.job_delay.count() == 0) {
      begin(i, std::move(job));
      return;
    }
    slot.held = std::move(job);
    slot.held_for = config_.job_delay;
    hold(i, ticket);
  }

  /// Holds the job that a worker has taken for some more of the delay: in
  /// pieces, so that a long one counts as work while it lasts.
  void hold(std::size_t i, std::uint64_t ticket) {
    constexpr std::chrono::milliseconds longest_piece{250};
    auto& slot = slots_[i];
    slot.piece = std::min(slot.held_for, longest_piece);
    post_later(handle_of<interface>(self_), slot.piece,
               pool_timer{0, ticket, i});
  }

  /// Has the worker do the job that it has taken.
  void begin(std::size_t i, Job job) {
    auto& slot = slots_[i];
    const auto ticket = slot.running;
    requests_.ask(self_, slot.handle, config_.job_timeout, std::move(job))
      .then(
        [this, i, ticket](Answer& answer) {
          if (auto done = retire(i, ticket)) {
            backoff_ = config_.backoff;
            deliver({std::move(done->promise), std::move(answer), done->since});
          }
          assign();
        },
        [this, i, ticket](const caf::error& reason) {
          on_error(i, ticket, reason);
        });
    if (slot.doomed) // Comes right after the job, before what that waits for.
      caf::anon_send(
        caf::actor_cast<caf::actor>(slot.handle),
        caf::exit_msg{self_->address(), to_caf(fail(ec::crashed, crash_text))});
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

  /// The worker may have died with the job meanwhile, and have another one.
  void begin_held(std::size_t i, std::uint64_t ticket) {
    auto& slot = slots_[i];
    if (slot.running != ticket || !slot.held)
      return;
    counters_->worked(slot.piece, std::chrono::nanoseconds{0});
    slot.held_for -= slot.piece;
    if (slot.held_for.count() > 0) {
      hold(i, ticket);
      return;
    }
    auto job = std::move(*slot.held);
    slot.held.reset();
    begin(i, std::move(job));
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
    slots_[i].held.reset();
    if (auto lost = retire(i, ticket))
      retry(std::move(*lost), reason);
    const auto why = from_caf(reason, config_.stage).message;
    config_.gauge->enter(actor_state::restarting, i);
    config_.gauge->restarted(why);
    if (config_.on_death)
      config_.on_death(why);
    assign(); // Another worker may be idle.
    post_later(handle_of<interface>(self_), backoff_, pool_timer{});
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

  void deliver(late_answer done) {
    if (config_.reply_delay_ms == 0) {
      release(done);
      return;
    }
    const auto id = late_.add(std::move(done));
    const auto delay = mix64(id) % (config_.reply_delay_ms + 1);
    post_later(handle_of<interface>(self_), std::chrono::milliseconds{delay},
               pool_timer{id, 0, 0});
  }

  void release(late_answer& done) {
    std::uint64_t bytes = 0;
    if constexpr (requires { done.answer.byte_size(); })
      bytes = done.answer.byte_size();
    config_.gauge->done(clock::now() - done.since, bytes);
    done.promise.deliver(std::move(done.answer));
  }

  void on_timer(const pool_timer& timer) {
    if (timer.job != 0) {
      begin_held(timer.worker, timer.job);
      return;
    }
    if (auto due = late_.take(timer.answer)) {
      release(*due);
      return;
    }
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
    for (auto& answer : late_.take_all())
      answer.promise.deliver(to_caf(reason));
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
  ticket_table<late_answer> late_; ///< By timer.
  std::chrono::milliseconds backoff_;
  std::uint64_t given_ = 0;
  std::uint64_t strikes_ = 0;
};

/// Throws when a job says so: the deliberate death of a worker with work half
/// done.
template <class Job>
void crash_midway_if_told(const Job& job) {
  if (job.crash_midway)
    throw std::runtime_error(crash_text);
}

/// Throws when a job says so: the deliberate death of a worker.
template <class Job>
void crash_if_told(const Job& job) {
  if (job.crash)
    throw std::runtime_error(crash_text);
}

} // namespace graphmill
