#include "pipelines/gradients/device_collective.hpp"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

using device_id = bulk_route::device_id;
using milliseconds = std::chrono::milliseconds;

/// How often a carrier is asked whether an exchange has come: one of a bucket
/// takes longer than that.
constexpr std::chrono::microseconds between_polls{50};

/// How often a wait looks whether it is to end.
constexpr milliseconds poll_limit{100};

error given_up() {
  return fail(ec::cancelled, "the gradient group was abandoned");
}

bool all_differ(std::vector<device_id> devices) {
  std::sort(devices.begin(), devices.end());
  return devices.front() != device_id{}
         && std::adjacent_find(devices.begin(), devices.end()) == devices.end();
}

/// What the thread of a membership works on; it may outlive the membership.
class bulk_lane {
public:
  bulk_lane(bulk_route route, collective& group)
    : route_(std::move(route)), group_(group), rank_(group.rank()),
      bell_(group.bell()),
      joined_(std::make_shared<operation>(bell_, group.ranks())),
      devices_(static_cast<std::size_t>(group.ranks())) {
    joined_->expect(rank_, true);
    devices_[static_cast<std::size_t>(rank_)] = route_.device;
  }

  void run();
  std::shared_ptr<operation> post(std::span<const transfer> out,
                                  std::span<const transfer> in);
  void abandon();
  /// After `abandon`: returns, soon, when the group is not used any more.
  void let_go();

  const std::shared_ptr<operation>& joined() const { return joined_; }
  bool carries() const { return carries_; } ///< Once joined.
  bool ended() const { return ended_; }

private:
  using failure = std::optional<operation::failure>;
  struct flight {
    std::vector<transfer> out;
    std::vector<transfer> in;
    std::shared_ptr<operation> of;
  };

  failure join();
  failure exchange_devices();
  failure connect();
  failure wait_for(const operation& of) const;
  void carry();
  result<bool> advance();
  void fail_all(const error& why);

  const bulk_route route_;
  collective& group_; ///< Until `left_group_`.
  const rank_id rank_;
  const std::shared_ptr<progress_bell> bell_;
  const std::shared_ptr<operation> joined_;
  std::vector<device_id> devices_; ///< Per rank.
  std::atomic<bool> carries_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> stop_{false};

  /// Guards what follows, and the memory of exchanges: it is touched under this
  /// mutex only, and not after `stop_`.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool left_group_ = false;
  std::unique_ptr<bulk_carrier> carrier_;
  std::deque<flight> waiting_;
  std::deque<flight> flying_;
  std::optional<error> broken_;
};

void bulk_lane::run() {
  auto missed = join();
  {
    std::lock_guard lock{mutex_};
    left_group_ = true;
    changed_.notify_all();
  }
  if (!missed && all_differ(devices_))
    missed = connect();
  if (missed)
    joined_->fail_with(std::move(*missed));
  else
    joined_->transfer_done(rank_, true);
  if (carries_)
    carry();
  carrier_.reset();
  ended_ = true;
}

bulk_lane::failure bulk_lane::join() {
  if (auto missed = wait_for(*group_.joined()))
    return missed;
  return exchange_devices();
}

bulk_lane::failure bulk_lane::connect() {
  auto made = route_.connect(stop_);
  if (!made)
    return operation::failure{std::nullopt, std::move(made).error()};
  carrier_ = std::move(made).value();
  carries_ = true;
  return std::nullopt;
}

bulk_lane::failure bulk_lane::exchange_devices() {
  std::vector<transfer> out, in;
  const auto own = static_cast<std::size_t>(rank_);
  for (std::size_t r = 0; r < devices_.size(); ++r)
    if (r != own) {
      out.push_back({static_cast<rank_id>(r), devices_[own]});
      in.push_back({static_cast<rank_id>(r), devices_[r]});
    }
  return wait_for(*group_.exchange(out, in));
}

bulk_lane::failure bulk_lane::wait_for(const operation& of) const {
  for (;;) {
    const auto seen = bell_->count();
    if (auto missed = of.failed())
      return missed;
    if (stop_)
      return operation::failure{std::nullopt, given_up()};
    if (of.done())
      return std::nullopt;
    bell_->wait(seen, poll_limit); // The operation has a limit of its own.
  }
}

void bulk_lane::carry() {
  for (;;) {
    {
      std::unique_lock lock{mutex_};
      // Bounded by the destructor, which abandons.
      changed_.wait(lock, [this] {
        return stop_ || !waiting_.empty() || !flying_.empty();
      });
      if (stop_)
        return;
      auto went_on = advance();
      if (!went_on) {
        // The group's own connections know whose failure it is, and may make
        // the caller give up meanwhile.
        changed_.wait_for(lock, route_.grace, [this] { return stop_.load(); });
        broken_ = std::move(went_on).error();
        fail_all(*broken_);
        return;
      }
      if (went_on.value())
        continue;
    }
    std::this_thread::sleep_for(between_polls);
  }
}

/// Starts what waits. True: the oldest exchange has come.
result<bool> bulk_lane::advance() {
  while (!waiting_.empty()) {
    flying_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    TRYV(carrier_->start(flying_.back().out, flying_.back().in));
  }
  TRY(const auto came, carrier_->landed());
  if (came) {
    flying_.front().of->transfer_done(rank_, true);
    flying_.pop_front();
  }
  return came;
}

std::shared_ptr<operation> bulk_lane::post(std::span<const transfer> out,
                                           std::span<const transfer> in) {
  auto of = std::make_shared<operation>(bell_, devices_.size());
  // One collective for all peers: it has come from all, or it has not.
  of->expect(rank_, true);
  std::lock_guard lock{mutex_};
  if (stop_ || broken_) {
    of->fail_with({std::nullopt, stop_ ? given_up() : *broken_});
    return of;
  }
  waiting_.push_back({{out.begin(), out.end()}, {in.begin(), in.end()}, of});
  changed_.notify_all();
  return of;
}

void bulk_lane::abandon() {
  std::lock_guard lock{mutex_};
  stop_ = true;
  fail_all(given_up());
  changed_.notify_all();
  bell_->ring();
}

void bulk_lane::let_go() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return left_group_; });
}

void bulk_lane::fail_all(const error& why) {
  for (auto* list : {&flying_, &waiting_})
    for (const auto& one : *list)
      one.of->fail_with({std::nullopt, why});
}

class device_collective final : public collective {
public:
  device_collective(std::unique_ptr<collective> group, bulk_route route,
                    std::shared_ptr<parking> lot)
    : lane_(std::make_shared<bulk_lane>(std::move(route), *group)),
      lot_(std::move(lot)), group_(std::move(group)),
      thread_([of = lane_] { of->run(); }) {}

  ~device_collective() override {
    abandon();
    lane_->let_go();
    lot_->keep(std::move(thread_), [of = lane_] { return of->ended(); });
  }

  rank_id rank() const override { return group_->rank(); }
  rank_id ranks() const override { return group_->ranks(); }
  std::shared_ptr<operation> joined() const override { return lane_->joined(); }
  const std::shared_ptr<progress_bell>& bell() const override {
    return group_->bell();
  }
  std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                      std::span<const transfer> in) override {
    return group_->exchange(out, in);
  }
  std::shared_ptr<operation>
  exchange_bulk(std::span<const transfer> out,
                std::span<const transfer> in) override {
    return lane_->carries() ? lane_->post(out, in) : group_->exchange(out, in);
  }
  bool has_bulk_way() const override { return lane_->carries(); }
  void abandon() override {
    lane_->abandon();
    group_->abandon();
  }

private:
  std::shared_ptr<bulk_lane> lane_; ///< Before the group, whose memory it has.
  std::shared_ptr<parking> lot_;
  std::unique_ptr<collective> group_;
  std::thread thread_;
};

} // namespace

std::unique_ptr<collective> join_by_devices(std::unique_ptr<collective> group,
                                            bulk_route route,
                                            std::shared_ptr<parking> lot) {
  return std::make_unique<device_collective>(std::move(group), std::move(route),
                                             std::move(lot));
}

} // namespace graphmill
