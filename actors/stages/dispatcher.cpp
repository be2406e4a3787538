#include "actors/stages/dispatcher.hpp"

#include "actors/base/request_watch.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "messages/base/random.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "pipelines/flow/reorder_window.hpp"
#include "pipelines/flow/step_seeds.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>
#include <optional>

namespace graphmill {

namespace {

purpose purpose_of(phase which) {
  switch (which) {
  case phase::train:
    return purpose::train;
  case phase::validation:
    return purpose::validation;
  case phase::test:
    return purpose::test;
  }
  return purpose::test;
}

/// Whether the next attempt may go better: a stage was lost on the way. Other
/// errors lie in the data or in the batch, and come again.
bool may_pass(ec code) {
  return code == ec::unavailable || code == ec::timeout || code == ec::crashed;
}

class dispatcher {
public:
  using interface = dispatcher_actor;
  static constexpr const char* name = "dispatcher";

  dispatcher(interface::pointer self, dispatcher_config config)
    : self_(self), config_(std::move(config)), ledger_(config_.limits),
      windows_(config_.trainers.size()) {
    if (!config_.gauge)
      config_.gauge =
        std::make_shared<actor_gauge>(actor_label{actor_kind::dispatcher});
    config_.gauge->enter(actor_state::starved);
    post_later(handle_of<interface>(self_), config_.patience / 4, tick{});
  }

  interface::behavior_type make_behavior() {
    return {
      [this](const begin_phase& begin) { start(begin); },
      [this](const tick&) { look_for_held_credit(); },
      [this](const pause_over& pause) {
        const auto it = flights_.find(pause.sequence);
        if (it != flights_.end() && it->second.attempt == pause.attempt
            && !dropped(pause.sequence))
          go_on(pause.sequence, 0);
      },
      [this](const farewell_over& farewell) {
        report(farewell.sequence,
               fail(ec::unavailable, "{}, and the run went on for {} s",
                    farewell.cause.message,
                    std::chrono::round<std::chrono::seconds>(config_.farewell)
                      .count()));
      },
    };
  }

private:
  using sequence = credit_ledger::sequence;

  /// A batch from its admission to its end.
  struct in_flight {
    std::shared_ptr<batch_in_making> batch;
    std::uint32_t attempt = 1;
    std::string_view where; ///< The stage that has it.
    caf::actor_clock::time_point since;
    bool reported = false;
    bool ready = false;     ///< It has left the last stage.
    bool handed = false;    ///< Its trainer has it.
    bool abandoned = false; ///< A stage has it still.
  };

  // -- admission

  void start(const begin_phase& begin) {
    abandon();
    work_ = begin.work;
    // The ledger knows no phases: orders go on from one to the next.
    first_ = next_;
    end_ =
      first_
      + static_cast<sequence>(work_->steps - work_->first) * windows_.size();
    for (auto& window : windows_)
      window.restart(static_cast<std::uint64_t>(work_->first));
    bounds_.clear();
    seeds_.reset();
    ask_for_credit();
  }

  /// Drops what is left of a phase: its trainers keep what they have, and
  /// stages finish what they are at, whose credit comes back then.
  void abandon() {
    end_ = next_;
    if (waiting_) {
      waiting_ = false;
      flights_.erase(next_);
      ledger_.release(next_++); // Its turn is passed over.
    }
    for (auto it = flights_.begin(); it != flights_.end();) {
      const auto which = it->first;
      auto& flight = (it++)->second;
      if (flight.handed)
        continue;
      flight.abandoned = true;
      if (flight.ready)
        dropped(which);
    }
  }

  /// Ends a batch of a phase that was abandoned.
  /// @returns whether it is one.
  bool dropped(sequence which) {
    const auto it = flights_.find(which);
    if (it == flights_.end() || !it->second.abandoned)
      return false;
    end_report(it->second);
    flights_.erase(it);
    credited(ledger_.release(which));
    return true;
  }

  /// Asks for one batch after the other until one has to wait.
  void ask_for_credit() {
    while (next_ < end_ && !waiting_) {
      prepare(next_);
      waiting_ = true;
      admit(ledger_.request(next_, bound_bytes(next_)));
    }
  }

  void admit(const std::vector<sequence>& told) {
    for (auto which : told) {
      waiting_ = false;
      ++next_;
      go_on(which, 0);
    }
    update_gauges();
  }

  /// Credit has come back: lets in whoever waits, then asks for more.
  void credited(const std::vector<sequence>& told) {
    admit(told);
    ask_for_credit();
  }

  /// Position in `config_.trainers` of the one that takes a batch.
  std::size_t trainer_of(sequence which) const {
    return static_cast<std::size_t>((which - first_) % windows_.size());
  }

  void prepare(sequence which) {
    const auto index = which - first_;
    const auto made = std::make_shared<batch_in_making>();
    auto& batch = *made;
    batch.key.phase = work_->phase;
    batch.key.epoch = work_->epoch;
    batch.key.step =
      work_->first + static_cast<std::int64_t>(index / windows_.size());
    batch.key.rank = config_.ranks[trainer_of(which)];
    // The ranks of a step come one after the other, so it is split once.
    if (!seeds_ || seeds_step_ != batch.key.step) {
      seeds_.emplace(work_->table, config_.graph->info(),
                     work_->plan->split(batch.key.step), work_->sampling->time,
                     config_.excludes);
      seeds_step_ = batch.key.step;
    }
    batch.rows = seeds_->rows(batch.key.rank);
    batch.edges = work_->table->edges.has_value();
    negative_lists negatives;
    if (work_->negatives)
      negatives =
        work_->negatives->of(*work_->table, batch.rows, batch.key.phase,
                             batch.key.epoch, batch.key.step);
    batch.seeds = std::make_shared<const seed_batch>(
      seeds_->batch(batch.key.rank, negatives));
    batch.global_seeds = work_->plan->global_seeds(batch.key.step);
    batch.stream = stream_key(config_.run_seed, purpose_of(batch.key.phase),
                              static_cast<std::uint64_t>(batch.key.epoch),
                              static_cast<std::uint64_t>(batch.key.step));
    batch.scheme = work_->sampling;
    config_.gauge->works_on(batch.key);
    in_flight flight;
    flight.batch = made;
    flights_.insert_or_assign(which, std::move(flight));
  }

  /// The most that a batch can hold; batches with as many seeds of each type
  /// are alike.
  std::uint64_t bound_bytes(sequence which) {
    std::vector<std::int64_t> seeds;
    for (const auto& nodes : flights_.at(which).batch->seeds->nodes)
      seeds.push_back(std::ssize(nodes));
    auto [it, fresh] = bounds_.try_emplace(seeds, 0);
    if (fresh)
      it->second =
        bytes_of(bound_of(config_.graph->info(), *work_->sampling, seeds),
                 config_.graph->info(), config_.needs, *work_->sampling);
    const auto& batch = *flights_.at(which).batch;
    return it->second
           + (batch.edges ? bytes_of(*batch.seeds, config_.needs) : 0);
  }

  // -- the way of a batch

  in_flight* enter(sequence which, std::string_view stage) {
    auto it = flights_.find(which);
    if (it == flights_.end())
      return nullptr;
    end_report(it->second);
    it->second.where = stage;
    it->second.since = self_->clock().now();
    it->second.reported = false;
    return &it->second;
  }

  /// Has stage number `stage` take the batch; after the last one it waits for
  /// its turn at its trainer.
  void go_on(sequence which, std::size_t stage) {
    if (stage == config_.stages.size()) {
      line_up(which);
      return;
    }
    auto* flight = enter(which, config_.stages[stage].name);
    if (flight == nullptr)
      return;
    config_.stages[stage].ask(
      flight->batch,
      {self_, requests_, config_.stage_timeout,
       [this, which, stage] { take_over(which, stage); }, failed(which)});
  }

  /// A stage has done its part of the batch. The next one is asked before the
  /// batch's credit, of which the rest may come back now, lets others in.
  void take_over(sequence which, std::size_t stage) {
    const auto it = flights_.find(which);
    if (it == flights_.end() || dropped(which))
      return;
    const auto& bytes_known = config_.stages[stage].bytes;
    if (!bytes_known) {
      go_on(which, stage + 1);
      return;
    }
    const auto bytes = bytes_known(*it->second.batch);
    go_on(which, stage + 1);
    credited(ledger_.shrink(which, bytes));
  }

  void line_up(sequence which) {
    auto* flight = enter(which, "trainer");
    if (flight == nullptr)
      return;
    flight->ready = true;
    auto& batch = *flight->batch;
    const auto trainer = trainer_of(which);
    auto& window = windows_[trainer];
    window.put(static_cast<std::uint64_t>(batch.key.step),
               {which, std::move(batch.made)});
    while (auto ready = window.take())
      train(trainer, ready->first, std::move(ready->second));
  }

  void train(std::size_t trainer, sequence which,
             std::shared_ptr<minibatch> made) {
    flights_.at(which).handed = true;
    // A failure is final here: the trainer may have learnt from the batch, so
    // it must not get it a second time.
    requests_
      .ask(self_, config_.trainers[trainer], config_.stage_timeout,
           step_input{which, std::move(made), work_})
      .then(
        [this](const step_finished& done) {
          if (flights_.begin()->first == done.sequence)
            first_since_ = self_->clock().now();
          if (const auto it = flights_.find(done.sequence);
              it != flights_.end()) {
            end_report(it->second);
            flights_.erase(it);
          }
          config_.gauge->made(0);
          credited(ledger_.release(done.sequence));
        },
        [this, which](const caf::error& reason) {
          give_up(which, from_caf(reason, "the trainer"));
        });
  }

  // -- trouble

  std::function<void(const caf::error&)> failed(sequence which) {
    return [this, which](const caf::error& reason) {
      auto it = flights_.find(which);
      if (it == flights_.end() || dropped(which))
        return;
      auto& flight = it->second;
      const auto cause = from_caf(reason, flight.where);
      if (flight.attempt >= config_.attempts || !may_pass(cause.code)) {
        give_up(which, cause);
        return;
      }
      ++flight.attempt;
      ++config_.gauges->retried;
      log_of(flight)->warn("{}: {}; repeating it", describe(flight),
                           cause.message);
      pause(which, flight);
    };
  }

  void pause(sequence which, const in_flight& flight) {
    // The second attempt has the shortest pause.
    const auto bound = config_.pause.count() << (flight.attempt - 2);
    const auto drawn = mix64(mix64(which + 1) + flight.attempt)
                       % static_cast<std::uint64_t>(bound / 2 + 1);
    enter(which, "pause before its next attempt");
    post_later(
      handle_of<interface>(self_),
      std::chrono::milliseconds{bound - static_cast<std::int64_t>(drawn)},
      pause_over{which, flight.attempt});
  }

  static std::string describe(const in_flight& flight) {
    const auto& key = flight.batch->key;
    return fmt::format("batch of phase {}, epoch {}, step {}, rank {}",
                       to_string(key.phase), key.epoch + 1, key.step + 1,
                       key.rank);
  }

  /// Its lines name the batch.
  std::shared_ptr<spdlog::logger> log_of(const in_flight& flight) const {
    return log_about(config_.log, {.batch = describe(flight)});
  }

  /// A stage that shuts down is no failure if the run is ending; its batch
  /// must not be forgotten if it is not.
  void give_up(sequence which, const error& cause) {
    if (cause.code == ec::cancelled)
      post_later(handle_of<interface>(self_), config_.farewell,
                 farewell_over{which, cause});
    else
      report(which, cause);
  }

  void report(sequence which, const error& cause) {
    auto it = flights_.find(which);
    if (it == flights_.end())
      return;
    const auto& flight = it->second;
    const auto times = flight.attempt == 1
                         ? std::string{"failed"}
                         : fmt::format("failed {} times, last", flight.attempt);
    post(config_.conductor,
         run_failed{fail(cause.code, "{} {} in the {}: {}", describe(flight),
                         times, flight.where, cause.message)});
  }

  /// A batch is not to blame for the time in which it stood in line itself,
  /// behind older ones.
  void look_for_held_credit() {
    post_later(handle_of<interface>(self_), config_.patience / 4, tick{});
    const auto oldest = ledger_.statistics().oldest;
    if (!oldest)
      return;
    auto it = flights_.find(*oldest);
    if (it == flights_.end() || it->second.reported)
      return;
    const auto held =
      self_->clock().now() - std::max(it->second.since, first_since_);
    if (held < config_.patience)
      return;
    it->second.reported = true;
    log_of(it->second)
      ->warn("{} has been in the {} for {} s, and all others wait "
             "behind it",
             describe(it->second), it->second.where,
             std::chrono::floor<std::chrono::seconds>(held).count());
  }

  /// What was reported of a batch is over.
  void end_report(const in_flight& flight) const {
    if (flight.reported)
      log_of(flight)->info("{} has left the {} after {} s", describe(flight),
                           flight.where,
                           std::chrono::floor<std::chrono::seconds>(
                             self_->clock().now() - flight.since)
                             .count());
  }

  /// It has nothing to do, or credit is lacking, or all that it has is with
  /// stages and trainers: what it does itself takes no time to speak of.
  void update_gauges() {
    const auto seen = ledger_.statistics();
    config_.gauge->enter(waiting_           ? actor_state::stalled
                         : flights_.empty() ? actor_state::starved
                                            : actor_state::waiting);
    config_.gauge->credit(seen.in_flight, seen.used_bytes);
    config_.gauge->queued(flights_.size());
    config_.gauges->peak_bytes = seen.peak_bytes;
    config_.gauges->oversize = seen.oversize;
  }

  interface::pointer self_;
  dispatcher_config config_;
  request_watch requests_;
  credit_ledger ledger_;
  std::shared_ptr<const phase_work> work_;
  sequence first_ = 0;   ///< Of the phase.
  sequence end_ = 0;     ///< One past the last of the phase.
  sequence next_ = 0;    ///< The next one to be admitted.
  bool waiting_ = false; ///< `next_` has asked for credit and waits.
  std::map<sequence, in_flight> flights_;
  /// Since when no older batch is in flight than the first.
  caf::actor_clock::time_point first_since_{};
  /// By number of seeds, of each node type.
  std::map<std::vector<std::int64_t>, std::uint64_t> bounds_;
  std::optional<step_seeds> seeds_; ///< Of the step at hand.
  std::int64_t seeds_step_ = 0;
  /// Per trainer: assembled batches until their turn comes.
  std::vector<reorder_window<std::pair<sequence, std::shared_ptr<minibatch>>>>
    windows_;
};

} // namespace

dispatcher_actor spawn_dispatcher(caf::actor_system& system,
                                  dispatcher_config config) {
  return spawn_state<dispatcher>(system, std::move(config));
}

} // namespace graphmill
