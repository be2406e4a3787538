#include "actors/run/data_guard.hpp"

#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

std::uint64_t bytes_of(const data_guard::records& data) {
  std::uint64_t sum = 0;
  for (const auto& record : data)
    for (const auto& piece : record.pieces)
      sum += piece.bytes;
  return sum;
}

} // namespace

data_guard::data_guard(options how) : how_(std::move(how)) {
  if (!how_.verify)
    return;
  thread_.post(
    [this] {
      give_way_to_others();
      memory_ = verified_files::open(how_.data, how_.memory);
    },
    [](const error&) {}); // Nothing is remembered, then.
}

data_guard::~data_guard() {
  stop_ = true;
}

void data_guard::check(std::function<result<records>()> open,
                       std::function<void(const result<void>&)> done) {
  ++queued_;
  const auto tell = [this, done = std::move(done)](const result<void>& sound) {
    done(sound);
    if (--queued_ == 0)
      hurry_ = false;
  };
  thread_.post(
    [this, tell, open = std::move(open)] {
      auto data = open();
      tell(data ? verify(data.value()) : result<void>{data.error()});
    },
    [tell](const error& reason) { tell(reason); });
}

void data_guard::check(records data,
                       std::function<void(const result<void>&)> done) {
  check([data = std::move(data)]() -> result<records> { return data; },
        std::move(done));
}

void data_guard::hurry() {
  hurry_ = queued_ != 0;
}

result<void> data_guard::verify(const records& data) {
  if (!how_.verify)
    return ok();
  records unknown;
  for (const auto& record : data) {
    const auto found = faults_.find(record.path);
    if (found != faults_.end() && found->second.record == record)
      return found->second.reason;
    if (!memory_.knows(record))
      unknown.push_back(record);
  }
  if (unknown.empty())
    return ok();
  const auto began = clock::now();
  auto sound = verify_unknown(unknown);
  if (auto saved = memory_.save(); !saved)
    how_.log->info("what was verified is not remembered: {}",
                   saved.error().message);
  if (!sound)
    return sound;
  const auto seconds =
    std::chrono::duration<double>(clock::now() - began).count();
  how_.log->info("verified {:.1f} MB of data in {:.2f} s",
                 static_cast<double>(bytes_of(unknown)) / 1e6, seconds);
  return ok();
}

result<void> data_guard::verify_unknown(const records& data) {
  const verification how{.memory = &memory_, .stop = &stop_, .hurry = &hurry_};
  for (const auto& record : data) {
    faults_.erase(record.path);
    auto sound = graphmill::verify(record, how);
    if (!sound && sound.error().code == ec::invalid_data)
      faults_.insert({record.path, {record, sound.error()}});
    GRAPHMILL_TRYV(std::move(sound));
  }
  return ok();
}

result<data_guard::records> served_data::look() {
  if (!last_.empty() && still_unchanged(last_, replaced_files::count))
    return last_;
  last_.clear();
  // Before it is read: what changes from now on is seen at the next look.
  auto records = records_in(folder_, parts_);
  GRAPHMILL_TRY(const auto graph, reopen(folder_, *graph_));
  for (auto part : parts_)
    GRAPHMILL_TRYV(graph->open_shard(part));
  GRAPHMILL_TRY(last_, std::move(records));
  return last_;
}

} // namespace graphmill
