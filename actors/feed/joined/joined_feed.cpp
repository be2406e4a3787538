#include "actors/feed/joined/joined_feed.hpp"

#include "actors/base/caf_compat.hpp"
#include "actors/feed/feed_consumer.hpp"
#include "actors/feed/joined/feed_keeper.hpp"
#include "actors/feed/joined/feed_node.hpp"
#include "actors/feed/outlet.hpp"
#include "actors/feed/prepared_feed.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// The place of a consumer in its pass, over the runs that feed it. Each run
/// has an outlet of its own; only that of the latest hands out batches. From
/// any thread.
class feed_place {
public:
  explicit feed_place(const feed_request& request, feed_consumer& consumer)
    : request_(request), consumer_(consumer) {}

  /// The consumer begins a pass.
  void begin(const feed_pass& pass) {
    std::lock_guard lock{mutex_};
    pass_ = pass;
    want();
  }

  /// Another run begins. @returns the number of its outlet.
  std::uint64_t open(const std::string& run) {
    std::lock_guard lock{mutex_};
    run_ = run;
    let_go();
    first_ = consumer_.next_number();
    return ++turn_;
  }

  void attach(std::uint64_t turn, outlet_actor outlet) {
    std::lock_guard lock{mutex_};
    if (turn == turn_)
      outlet_ = std::move(outlet);
  }

  /// All shares of the run are there.
  void begun(const std::string& run, member_actor member) {
    std::lock_guard lock{mutex_};
    if (run != run_)
      return;
    member_ = std::move(member);
    want();
  }

  /// The run is over.
  void ended(const std::string& run) {
    std::lock_guard lock{mutex_};
    if (run == run_)
      let_go();
  }

  /// All runs are over.
  void end() {
    std::lock_guard lock{mutex_};
    let_go();
  }

  /// @returns whether there was room for the batch.
  bool hand(std::uint64_t turn, std::uint64_t sequence, std::uint64_t pass,
            std::shared_ptr<minibatch> batch) {
    std::lock_guard lock{mutex_};
    if (turn != turn_)
      return false; // Another run makes it again.
    const auto step = batch->data.key.step;
    if (!consumer_.hand(first_ + sequence, pass, std::move(batch)))
      return false;
    if (pass == pass_.number)
      pass_.first = step + 1;
    return true;
  }

  /// Credit is back of batches of the run that is on.
  void take_back(std::vector<batch_back> batches) {
    std::lock_guard lock{mutex_};
    std::erase_if(
      batches, [this](const batch_back& one) { return one.sequence < first_; });
    for (auto& one : batches)
      one.sequence -= first_;
    if (outlet_)
      post(outlet_, batches_back{std::move(batches)});
  }

private:
  void let_go() {
    outlet_ = nullptr;
    member_ = nullptr;
  }

  /// Has the run that is on make what is due.
  void want() {
    if (!outlet_ || !member_ || pass_.first >= pass_.steps)
      return;
    post(outlet_, wanted_pass{request_.phase, pass_});
    post(member_, phase_of(request_, pass_));
  }

  const feed_request& request_;
  feed_consumer& consumer_;
  std::mutex mutex_;
  feed_pass pass_; ///< From the step that is due.
  std::string run_;
  std::uint64_t turn_ = 0;
  std::uint64_t first_ = 0; ///< The number of the first batch of this run.
  outlet_actor outlet_;
  member_actor member_;
};

/// A feed of a cluster, while it is open.
class joined_feed final : public batch_feed {
public:
  explicit joined_feed(feed_making of)
    : consumer_(of.consumer), request_(std::move(of.request)),
      seeds_(std::move(of.seeds)), log_(std::move(of.log)),
      place_(request_, consumer_) {}

  ~joined_feed() override {
    if (!system_)
      return;
    node_->leave();
    shutdown_watchdog watchdog{log_, true};
    stop_actor(keeper_);
    node_->stop();
    system_->await_all_actors_done(); // They tell the keeper to the last.
    place_.end();
    set_keeper(feed_keeper_actor{});
    system_.reset();
  }
  joined_feed(const joined_feed&) = delete;
  joined_feed& operator=(const joined_feed&) = delete;

  static result<opened_feed> start(feed_making of) {
    auto feed = std::make_unique<joined_feed>(std::move(of));
    GRAPHMILL_TRY(const auto prepared,
                  prepare_feed(feed->request_, feed->seeds_));
    GRAPHMILL_TRYV(feed->join(prepared));
    auto answer = answer_of(prepared, feed->consumer_.arena_bytes());
    return opened_feed{std::move(feed), std::move(answer), prepared.steps,
                       seeds_of(prepared)};
  }

  void begin(const feed_pass& pass) override { place_.begin(pass); }

  void take_back(std::vector<batch_back> batches) override {
    place_.take_back(std::move(batches));
  }

  void judge() override { post(keeper_, wanted_verdict{}); }

private:
  result<void> join(const prepared_feed& prepared) {
    GRAPHMILL_TRY(node_, feed_node::make(node_config()));
    set_scheduler(settings_, std::max(2u, usable_processors()));
    system_.emplace(settings_);
    auto def = prepared.def;
    def.dataset = prepared.member.graph->info().name;
    set_keeper(spawn_feed_keeper(
      *system_,
      {std::move(def), node_->coordinators(), node_->net(),
       [&to = consumer_](const std::string& what) { to.waits(what); },
       [&to = consumer_](const error& reason) { to.report(reason); },
       [&to = consumer_](const result<verdict>& said) { to.judged(said); }}));
    node_->start(*system_);
    return ok();
  }

  feed_node_config node_config() {
    feed_node_config out;
    out.cluster = *request_.cluster;
    out.data = request_.data;
    out.verify = request_.verify;
    out.hooks.open = [this](const deployment& assignment,
                            data_guard::records& records) {
      return open_share(assignment.run, records);
    };
    out.hooks.begun = [this](const std::string& run,
                             const member_actor& member) {
      place_.begun(run, member);
      post(keeper_, feed_begun{run});
    };
    out.hooks.failed = [this](const std::string& run) {
      post(keeper_, feed_share_ended{run});
    };
    out.hooks.ended = [this](const std::string& run) {
      place_.ended(run);
      post(keeper_, feed_share_ended{run});
    };
    out.on_joined = [this] { post(keeper_, consumer_joined{}); };
    out.on_refused = [this](const error& reason) {
      // No exception for data or arguments says what is wrong.
      refuse(fail(ec::unavailable, "{}", reason.message));
    };
    return out;
  }

  /// From any thread, also before the keeper is there: the transport begins
  /// earlier.
  void refuse(error reason) {
    std::lock_guard lock{mutex_};
    if (keeper_)
      post(keeper_, consumer_refused{std::move(reason)});
    else
      refused_ = std::move(reason);
  }

  void set_keeper(feed_keeper_actor keeper) {
    std::lock_guard lock{mutex_};
    keeper_ = std::move(keeper);
    if (keeper_ && refused_)
      post(keeper_, consumer_refused{*std::exchange(refused_, std::nullopt)});
  }

  /// The consumer's share of a run.
  result<member_config> open_share(const std::string& run,
                                   data_guard::records& records) {
    GRAPHMILL_TRY(auto prepared, prepare_feed(request_, seeds_));
    records = std::move(prepared.records);
    if (!prepared.member.def.faults.daemons.empty())
      prepared.member.def.faults = {}; // They are for others.
    prepared.member.sink =
      [this, run](caf::actor_system& system, const member_config& member,
                  const stage_table&, const run_reports_actor&) {
        const auto turn = place_.open(run);
        auto outlet = spawn_outlet(
          system, {request_.rank,
                   [this, turn](std::uint64_t sequence, std::uint64_t pass,
                                std::shared_ptr<minibatch> batch) {
                     const auto room =
                       place_.hand(turn, sequence, pass, std::move(batch));
                     if (room)
                       post(keeper_, consumer_fed{});
                     return room;
                   },
                   member.health->add({actor_kind::trainer, -1, 0})});
        place_.attach(turn, outlet);
        return batch_sink{{outlet}, {}};
      };
    return std::move(prepared.member);
  }

  feed_consumer& consumer_;
  const feed_request request_;
  const std::optional<std::vector<node_id>> seeds_;
  std::shared_ptr<spdlog::logger> log_;
  feed_place place_;
  watched_system_config settings_;
  // The node's threads use these three to its end.
  std::mutex mutex_; ///< Of the next two, but for actors of this system.
  feed_keeper_actor keeper_;
  std::optional<error> refused_; ///< Before there was a keeper.
  std::unique_ptr<feed_node> node_;
  std::optional<caf::actor_system> system_;
};

} // namespace

result<opened_feed> join_cluster(feed_making of) {
  return joined_feed::start(std::move(of));
}

} // namespace graphmill
