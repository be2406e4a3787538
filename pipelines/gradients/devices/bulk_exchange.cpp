#include "pipelines/gradients/devices/bulk_exchange.hpp"

#include "messages/base/caught.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

using device_id = carrier_factory::device_id;

/// How often a carrier is asked whether an exchange has come: one of a bucket
/// takes longer than that.
constexpr std::chrono::microseconds between_polls{50};

/// How often a wait looks whether it is to end.
constexpr std::chrono::milliseconds poll_limit{100};

error given_up() {
  return fail(ec::cancelled, "the gradient group was abandoned");
}

bool all_differ(std::vector<device_id> devices) {
  std::sort(devices.begin(), devices.end());
  return devices.front() != device_id{}
         && std::adjacent_find(devices.begin(), devices.end()) == devices.end();
}

std::size_t size_of(std::span<const transfer> list) {
  std::size_t out = 0;
  for (const auto& piece : list)
    out += piece.bytes.size();
  return out;
}

} // namespace

bulk_exchange::flight::flight(std::span<const transfer> from,
                              std::span<const transfer> to,
                              std::shared_ptr<operation> exchange)
  : into(to.begin(), to.end()), bytes(size_of(from) + size_of(to)),
    of(std::move(exchange)) {
  std::span<std::byte> free{bytes};
  const auto place = [&free](const transfer& piece) {
    const transfer out{piece.peer, free.first(piece.bytes.size())};
    free = free.subspan(piece.bytes.size());
    return out;
  };
  for (const auto& piece : from) {
    out.push_back(place(piece));
    std::copy(piece.bytes.begin(), piece.bytes.end(), out.back().bytes.begin());
  }
  for (const auto& piece : to)
    in.push_back(place(piece));
}

bulk_exchange::bulk_exchange(carrier_factory factory, collective& group)
  : factory_(std::move(factory)), group_(group), rank_(group.rank()),
    bell_(group.bell()),
    joined_(std::make_shared<operation>(bell_, group.ranks())),
    devices_(static_cast<std::size_t>(group.ranks())),
    connected_(devices_.size()) {
  joined_->expect(rank_, true);
  devices_[static_cast<std::size_t>(rank_)] = factory_.device;
}

void bulk_exchange::run() noexcept {
  try {
    take_part();
  } catch (...) {
    quietly([this] { fail_run(caught("exchange gradients")); });
  }
  carrier_.reset();
  ended_ = true;
}

/// Nobody waits for this rank's devices any more, nor for its use of the group.
void bulk_exchange::fail_run(error reason) {
  leave_group();
  std::lock_guard lock{mutex_};
  broken_ = operation::failure{rank_, std::move(reason)};
  joined_->fail_with(*broken_);
  fail_all(*broken_);
}

void bulk_exchange::take_part() {
  auto missed = join();
  if (!missed && all_differ(devices_)) {
    missed = connect();
    if (!missed)
      missed = end_watch();
    carries_ = !missed;
  }
  if (missed)
    joined_->fail_with(std::move(*missed));
  else
    joined_->transfer_done(rank_, true);
  if (carries_)
    carry();
}

bool bulk_exchange::enter_group() {
  std::lock_guard lock{mutex_};
  uses_group_ = !stop_;
  return uses_group_;
}

void bulk_exchange::leave_group() {
  std::lock_guard lock{mutex_};
  uses_group_ = false;
  changed_.notify_all();
}

bulk_exchange::failure bulk_exchange::join() {
  if (!enter_group())
    return operation::failure{std::nullopt, given_up()};
  auto missed = wait_for(*group_.joined());
  if (!missed)
    missed = tell_devices();
  if (!missed && all_differ(devices_))
    start_watch();
  leave_group();
  return missed;
}

/// A place for each of the other ranks.
std::vector<transfer>
bulk_exchange::peers(std::vector<device_id>& words) const {
  std::vector<transfer> out;
  for (std::size_t r = 0; r < words.size(); ++r)
    if (static_cast<rank_id>(r) != rank_)
      out.push_back({static_cast<rank_id>(r), words[r]});
  return out;
}

bulk_exchange::failure bulk_exchange::tell_devices() {
  auto out = peers(devices_);
  for (auto& piece : out)
    piece.bytes = devices_[static_cast<std::size_t>(rank_)];
  return wait_for(*group_.exchange(out, peers(devices_)));
}

/// Expects a word of each rank while devices connect, which may take forever
/// when one is lost: then this fails.
void bulk_exchange::start_watch() {
  auto watch = group_.exchange({}, peers(connected_));
  std::lock_guard lock{mutex_};
  watch_ = std::move(watch);
}

bulk_exchange::failure bulk_exchange::end_watch() {
  if (!enter_group())
    return operation::failure{std::nullopt, given_up()};
  auto words = peers(connected_);
  for (auto& word : words)
    word.bytes = connected_[static_cast<std::size_t>(rank_)];
  const auto told = group_.exchange(words, {});
  auto missed = wait_for(*told);
  if (!missed)
    missed = wait_for(*watch_);
  leave_group();
  return missed;
}

bulk_exchange::failure bulk_exchange::connect() {
  auto made = factory_.connect(stop_);
  if (!made)
    return operation::failure{rank_, std::move(made).error()};
  carrier_ = std::move(made).value();
  return std::nullopt;
}

const std::shared_ptr<operation>& bulk_exchange::joined() {
  failure lost;
  {
    std::lock_guard lock{mutex_};
    if (watch_)
      lost = watch_->failed();
  }
  if (lost)
    joined_->fail_with(std::move(*lost));
  return joined_;
}

bulk_exchange::failure bulk_exchange::wait_for(const operation& of) const {
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

void bulk_exchange::carry() {
  while (!stop_) {
    {
      std::unique_lock lock{mutex_};
      // This wait has an end, for whoever owns the rank abandons it when it is
      // destroyed.
      changed_.wait(lock, [this] {
        return stop_ || !waiting_.empty() || !flying_.empty();
      });
    }
    auto went_on = advance();
    if (!went_on)
      return break_off(std::move(went_on).error());
    if (!went_on.value())
      std::this_thread::sleep_for(between_polls);
  }
}

/// Starts what waits. True: the oldest exchange has come.
result<bool> bulk_exchange::advance() {
  std::deque<flight> fresh;
  {
    std::lock_guard lock{mutex_};
    fresh.swap(waiting_);
  }
  for (auto& departing : fresh) {
    flying_.push_back(std::move(departing));
    GRAPHMILL_TRYV(carrier_->start(flying_.back().out, flying_.back().in));
  }
  if (flying_.empty())
    return false;
  GRAPHMILL_TRY(const auto came, carrier_->landed());
  if (came) {
    deliver(std::move(flying_.front()));
    flying_.pop_front();
  }
  return came;
}

void bulk_exchange::deliver(flight landed) {
  std::lock_guard lock{mutex_};
  if (stop_)
    return;
  const auto owner =
    std::make_shared<std::vector<std::byte>>(std::move(landed.bytes));
  for (std::size_t i = 0; i < landed.in.size(); ++i) {
    const auto bytes = landed.in[i].bytes;
    const auto& place = landed.into[i];
    if (place.receiver)
      place.receiver->take(place.peer, 0, frame::own(owner, bytes));
    else
      std::copy(bytes.begin(), bytes.end(), place.bytes.begin());
  }
  std::erase(open_, landed.of);
  landed.of->transfer_done(rank_, true);
}

/// Waits for the group's own connections to say whose failure it is, which
/// makes the caller abandon, before it calls it this rank's.
void bulk_exchange::break_off(error reason) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, factory_.grace, [this] { return stop_.load(); });
  broken_ = operation::failure{rank_, std::move(reason)};
  fail_all(*broken_);
}

std::shared_ptr<operation> bulk_exchange::post(std::span<const transfer> out,
                                               std::span<const transfer> in) {
  auto of =
    std::make_shared<operation>(bell_, static_cast<rank_id>(devices_.size()));
  // A carrier does not tell one peer from another: an exchange has come from
  // all of them, or it has not. So one transfer stands for it, as if it came
  // from this rank.
  of->expect(rank_, true);
  flight next{out, in, of};
  std::lock_guard lock{mutex_};
  if (stop_ || broken_) {
    of->fail_with(broken_ ? *broken_
                          : operation::failure{std::nullopt, given_up()});
    return of;
  }
  waiting_.push_back(std::move(next));
  open_.push_back(of);
  changed_.notify_all();
  return of;
}

void bulk_exchange::abandon() {
  std::lock_guard lock{mutex_};
  stop_ = true;
  fail_all({std::nullopt, given_up()});
  joined_->fail_with({std::nullopt, given_up()});
  changed_.notify_all();
  bell_->ring();
}

void bulk_exchange::let_go() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return !uses_group_; });
}

void bulk_exchange::fail_all(const operation::failure& reason) {
  for (const auto& exchange : open_)
    exchange->fail_with(reason);
  open_.clear();
}

} // namespace graphmill
