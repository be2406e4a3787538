#include "pipelines/gradients/group_rank.hpp"

#include "pipelines/gradients/gradient_set.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

/// How long joining may take before a rank must be stuck: the roll call has had
/// its time then, ranks have had theirs to tell each other their devices, and
/// NCCL has had its own to meet and to connect.
std::chrono::milliseconds longest_join(const group_options& options) {
  return 2 * options.join_timeout + 2 * options.connect_timeout
         + options.devices_timeout;
}

/// How often a wait looks at the clock.
constexpr std::chrono::milliseconds slice{100};

/// How often a rank that connects looks for notes of those that have left: it
/// may be waiting for one that will not come.
constexpr std::chrono::milliseconds look_after{500};

} // namespace

std::string fingerprint_of(const gradient_shape& shape) {
  auto out = fmt::format("{} dense parameters", shape.dense);
  for (const auto& table : shape.tables)
    out += fmt::format(", a table of {} x {}", table.rows, table.width);
  return out;
}

struct group_rank::spare_sets {
  std::mutex mutex;
  std::vector<std::unique_ptr<gradient_set>> sets;
};

group_rank::group_rank(const group_options& options, gradient_shape shape,
                       std::shared_ptr<rendezvous_store> store,
                       const connector& connect,
                       std::shared_ptr<stage_counters> counters,
                       bucket_limits limits)
  : options_(options), schedule_(std::move(shape), limits),
    roll_(std::make_shared<roll_call>(options, std::move(store))),
    counters_(std::move(counters)), spare_(std::make_shared<spare_sets>()) {
  if (options_.ranks > 1) {
    group_ = connect(roll_, fingerprint_of(schedule_.shape()));
    bell_ = group_->bell();
  }
}

result<step_sum>
group_rank::reduce(const step_word& word,
                   const std::shared_ptr<const gradient_set>& mine,
                   gradient_progress& progress) {
  if (broken_)
    return *broken_;
  if (auto begun = begin(word.step, *mine, progress); !begun)
    return leave(std::move(begun).error());
  if (options_.ranks == 1) {
    counters_->item_done(0);
    return step_sum{mine, word.stop, {*progress.finished()}};
  }
  auto sum = new_set();
  step_exchange exchange{*group_, schedule_, word, mine, progress, sum};
  // A failure destroys the group here, before `exchange` and `sum` go, whose
  // memory it may touch until then.
  if (auto done = run(exchange, word.step, progress); !done)
    return leave(std::move(done).error());
  counters_->item_done(exchange.bytes());
  return step_sum{std::move(sum), exchange.stop(), exchange.metrics()};
}

/// Waits for the first of the gradients, and for all ranks to be connected.
result<void> group_rank::begin(std::int64_t step, const gradient_set& mine,
                               gradient_progress& progress) {
  progress.wake(bell_);
  auto looked = clock::now();
  const auto latest = looked + longest_join(options_);
  for (;;) {
    const auto seen = bell_->count();
    const auto joined = options_.ranks > 1 ? group_->joined() : nullptr;
    if (progress.failed() || abandoned_)
      return stopped(progress);
    if (const auto failure = joined ? joined->failed() : std::nullopt)
      return why_failed(failure->peer, step, failure->reason);
    const auto begun =
      joined ? progress.offset().has_value() : progress.finished().has_value();
    if (begun && (!joined || joined->done()))
      break;
    if (joined && !joined->done() && clock::now() - looked > look_after) {
      if (auto left = left_early(step))
        return *left;
      looked = clock::now();
      if (looked > latest)
        return late_to_join();
    }
    wait(seen); // Backward ends.
  }
  if (mine.dense.size() == static_cast<std::size_t>(schedule_.shape().dense))
    return ok();
  return fail(ec::internal,
              "gradients of {} dense parameters for a group that has {}",
              mine.dense.size(), fingerprint_of(schedule_.shape()));
}

std::optional<error> group_rank::left_early(std::int64_t step) {
  for (rank_id r = 0; r < options_.ranks; ++r)
    if (r != options_.rank)
      if (const auto verdict = roll_->verdict_of(r, {}))
        return missing(*verdict, step, ec::unavailable,
                       fmt::format("{} has given up", roll_->list({&r, 1})));
  return std::nullopt;
}

error group_rank::late_to_join() {
  roll_->gave_up({&options_.rank, 1});
  return fail(ec::timeout, "{} of {} has not connected within {:.1f} s",
              roll_->list({&options_.rank, 1}), roll_->group(),
              std::chrono::duration<double>(longest_join(options_)).count());
}

error group_rank::stopped(const gradient_progress& progress) {
  if (options_.ranks > 1)
    roll_->gave_up({&options_.rank, 1});
  if (progress.failed())
    return fail(ec::unavailable, "rank {} has no gradients for {}",
                options_.rank, roll_->group());
  return fail(ec::cancelled, "{} was abandoned", roll_->group());
}

void group_rank::wait(std::uint64_t seen) {
  const auto begun = clock::now();
  bell_->wait(seen, slice);
  counters_->waited_for_input(clock::now() - begun);
}

result<void> group_rank::run(step_exchange& exchange, std::int64_t step,
                             const gradient_progress& progress) {
  auto begun = clock::now();
  bool told = false;
  for (;;) {
    const auto seen = bell_->count();
    if (progress.failed() || abandoned_)
      return stopped(progress);
    {
      busy_scope busy{*counters_};
      auto done = exchange.advance();
      if (!done)
        return why_failed(exchange.lost(), step, done.error());
      if (done.value())
        break;
    }
    // While backward goes on, others wait for this rank and not it for them.
    if (!progress.finished())
      begun = clock::now();
    const auto elapsed = clock::now() - begun;
    if (elapsed > options_.step_timeout)
      return why_late(exchange, step);
    if (!told && elapsed > options_.slow_after) {
      roll_->waiting(step);
      told = true;
    }
    wait(seen);
  }
  if (told)
    roll_->went_on();
  return ok();
}

error group_rank::why_late(const step_exchange& exchange, std::int64_t step) {
  roll_->waiting(step);
  const auto silent = exchange.silent();
  auto absent = roll_->absent(step, silent);
  return missing(
    absent.empty() ? silent : absent, step, ec::timeout,
    fmt::format("nothing has come within {:.1f} s",
                std::chrono::duration<double>(options_.step_timeout).count()));
}

error group_rank::why_failed(std::optional<rank_id> peer, std::int64_t step,
                             const error& reason) {
  if (!peer)
    return reason;
  if (*peer == options_.rank) {
    roll_->gave_up({&options_.rank, 1});
    return fail(
      reason.code, "{} cannot exchange gradients of step {} in {}: {}",
      roll_->list({&options_.rank, 1}), step, roll_->group(), reason.message);
  }
  if (auto verdict = roll_->verdict_of(*peer, options_.grace))
    return missing(*verdict, step, ec::unavailable,
                   fmt::format("{} has given up", roll_->list({&*peer, 1})));
  return missing({*peer}, step, ec::unavailable, reason.message);
}

error group_rank::missing(const std::vector<rank_id>& absent, std::int64_t step,
                          ec code, const std::string& how) {
  roll_->gave_up(absent);
  return fail(code, "{} {} missing from {} in step {}: {}", roll_->list(absent),
              absent.size() == 1 ? "is" : "are", roll_->group(), step, how);
}

error group_rank::leave(error reason) {
  std::unique_ptr<collective> left;
  {
    std::lock_guard lock{mutex_};
    left = std::move(group_);
  }
  left.reset();
  broken_ = reason;
  return reason;
}

void group_rank::abandon() {
  abandoned_ = true;
  bell_->ring();
  std::lock_guard lock{mutex_};
  if (group_)
    group_->abandon();
}

/// A set that goes back to the spare ones when its last reader is done.
std::shared_ptr<gradient_set> group_rank::new_set() {
  std::unique_ptr<gradient_set> set;
  {
    std::lock_guard lock{spare_->mutex};
    if (!spare_->sets.empty()) {
      set = std::move(spare_->sets.back());
      spare_->sets.pop_back();
    }
  }
  if (!set)
    set = std::make_unique<gradient_set>();
  return {set.release(), [spare = spare_](gradient_set* done) {
            std::unique_ptr<gradient_set> own{done};
            std::lock_guard lock{spare->mutex};
            if (spare->sets.empty())
              spare->sets.push_back(std::move(own));
          }};
}

} // namespace graphmill
