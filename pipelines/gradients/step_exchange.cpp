#include "pipelines/gradients/step_exchange.hpp"

#include "pipelines/gradients/chunk_sum.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace graphmill {

namespace {

/// Words of a rank: step, stop, its metrics (seeds, correct ones, the bits of
/// the sum of losses), then rows per table. Who changes them raises
/// `protocol_version`: another build would take them for something else.
constexpr std::size_t fixed_words = 5;

/// Sending does not write; a transfer's memory has no const.
template <class T>
std::span<std::byte> bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

template <class T>
std::span<std::byte> bytes_of(const pod_vector<T>& values) {
  return bytes_of(values.span());
}

} // namespace

step_exchange::step_exchange(collective& group, exchange_schedule& schedule,
                             const step_word& word,
                             std::shared_ptr<const gradient_set> mine,
                             const gradient_progress& progress,
                             std::shared_ptr<gradient_set> sum)
  : group_(group), schedule_(schedule), word_(word), mine_(std::move(mine)),
    progress_(progress), sum_(std::move(sum)) {
  sum_->dense.resize(static_cast<std::size_t>(schedule_.shape().dense));
  sum_->tables.clear();
  sum_->tables.resize(schedule_.shape().tables.size());
  words_.resize(static_cast<std::size_t>(group.ranks())
                * (fixed_words + schedule_.shape().tables.size()));
  tables_.resize(static_cast<std::size_t>(group.ranks()));
}

template <class F>
void step_exchange::for_peers(const F& f) const {
  // Each rank begins with the one behind it, so that they do not all send to
  // the same one first.
  for (rank_id i = 1; i < group_.ranks(); ++i)
    f((group_.rank() + i) % group_.ranks());
}

result<bool> step_exchange::advance() {
  const auto& posts = schedule_.posts();
  while (operations_.size() < posts.size() && ready(posts[operations_.size()]))
    GRAPHMILL_TRYV(start(posts[operations_.size()]));
  bool finished = operations_.size() == posts.size();
  for (const auto& posted : operations_) {
    if (auto failure = posted->failed()) {
      lost_ = failure->peer;
      return failure->reason;
    }
    finished = finished && posted->done();
  }
  if (!finished)
    return false;
  if (schedule_.shape().tables.empty())
    GRAPHMILL_TRYV(read_words());
  GRAPHMILL_TRYV(finish_tables());
  return true;
}

bool step_exchange::ready(const exchange_schedule::post& next) const {
  const auto came = [](const operation& of) { return of.done(); };
  switch (next.content) {
  case kind::listen:
    return true;
  case kind::sums:
    return came(*parts_[next.bucket]);
  case kind::tables:
    return came(*spoken_);
  case kind::parts:
    return progress_.offset()
           && *progress_.offset() <= schedule_.buckets()[next.bucket].offset;
  case kind::words:
    break;
  }
  return progress_.finished().has_value();
}

result<void> step_exchange::start(const exchange_schedule::post& next) {
  switch (next.content) {
  case kind::listen:
    start_listening();
    break;
  case kind::words:
    GRAPHMILL_TRYV(start_words());
    break;
  case kind::parts:
    start_parts(next.bucket);
    break;
  case kind::sums:
    start_sums(next.bucket);
    break;
  case kind::tables:
    GRAPHMILL_TRYV(read_words());
    start_tables();
    break;
  }
  return ok();
}

void step_exchange::post(const transfers& out, const transfers& in,
                         std::shared_ptr<operation> posted) {
  for (const auto* list : {&out, &in})
    for (const auto& piece : *list)
      bytes_ += piece.bytes.size();
  operations_.push_back(std::move(posted));
}

std::span<std::int64_t> step_exchange::words_of(rank_id rank) {
  const auto size = words_.size() / static_cast<std::size_t>(group_.ranks());
  return {words_.data() + static_cast<std::size_t>(rank) * size, size};
}

/// Where bulk has a way of its own, this operation, which goes over the group's
/// connections, fails when a rank is gone. Else it is empty, for parts go over
/// these connections, too.
void step_exchange::start_listening() {
  transfers in;
  if (group_.has_bulk_way())
    for_peers([&](rank_id peer) {
      in.push_back({peer, std::as_writable_bytes(words_of(peer))});
    });
  post({}, in, group_.exchange({}, in));
  spoken_ = operations_.back();
}

result<void> step_exchange::start_words() {
  const auto own = words_of(group_.rank());
  own[0] = word_.step;
  own[1] = word_.stop;
  const auto metrics = progress_.finished().value_or(batch_metrics{});
  own[2] = metrics.seeds;
  own[3] = metrics.correct;
  own[4] = std::bit_cast<std::int64_t>(metrics.loss_sum);
  const auto& tables = schedule_.shape().tables;
  if (mine_->tables.size() != tables.size())
    return fail(ec::internal, "gradients of {} tables for a group that has {}",
                mine_->tables.size(), tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto& [rows, values] = mine_->tables[t];
    if (values.size()
        != rows.size() * static_cast<std::size_t>(tables[t].width))
      return fail(ec::internal,
                  "{} gradients for {} rows of a table of width {}",
                  values.size(), rows.size(), tables[t].width);
    own[fixed_words + t] = static_cast<std::int64_t>(rows.size());
  }
  transfers out, in;
  for_peers([&](rank_id peer) {
    out.push_back({peer, std::as_writable_bytes(own)});
    if (!group_.has_bulk_way())
      in.push_back({peer, std::as_writable_bytes(words_of(peer))});
  });
  post(out, in, group_.exchange(out, in));
  if (!group_.has_bulk_way())
    spoken_ = operations_.back();
  return ok();
}

result<void> step_exchange::read_words() {
  stop_ = false;
  metrics_.clear();
  for (rank_id r = 0; r < group_.ranks(); ++r) {
    const auto words = words_of(r);
    if (words[0] != word_.step)
      return fail(ec::internal, "rank {} is at step {}, rank {} at step {}", r,
                  words[0], group_.rank(), word_.step);
    stop_ = stop_ || words[1] != 0;
    metrics_.push_back({std::bit_cast<double>(words[4]), words[3], words[2]});
    for (std::size_t t = 0; t < schedule_.shape().tables.size(); ++t)
      if (const auto rows = words[fixed_words + t];
          rows < 0 || rows > schedule_.shape().tables[t].rows)
        return fail(ec::invalid_data,
                    "rank {} has gradients for {} rows of a table of {}", r,
                    rows, schedule_.shape().tables[t].rows);
  }
  return ok();
}

/// This rank's chunk is added up as the parts of it come.
void step_exchange::start_parts(std::size_t bucket) {
  const auto& whole = schedule_.buckets()[bucket];
  const auto own = chunk_of(whole, group_.rank(), group_.ranks());
  const auto adder = std::make_shared<chunk_sum>(mine_, sum_, own,
                                                 group_.rank(), group_.ranks());
  transfers out, in;
  for_peers([&](rank_id peer) {
    const auto chunk = chunk_of(whole, peer, group_.ranks());
    out.push_back(
      {peer,
       bytes_of(std::span<const float>{mine_->dense.data() + chunk.offset,
                                       static_cast<std::size_t>(chunk.size)}),
       mine_});
    in.push_back({peer, sum_of(own), nullptr, adder});
  });
  post(out, in, group_.exchange_bulk(out, in));
  parts_.push_back(operations_.back());
}

/// The memory of a chunk's sum.
std::span<std::byte> step_exchange::sum_of(const bucket& chunk) const {
  return std::as_writable_bytes(
    sum_->dense.span().subspan(static_cast<std::size_t>(chunk.offset),
                               static_cast<std::size_t>(chunk.size)));
}

void step_exchange::start_sums(std::size_t bucket) {
  if (!sums_travel(group_.ranks()))
    return post({}, {}, group_.exchange_bulk({}, {}));
  const auto& whole = schedule_.buckets()[bucket];
  const auto piece = [this, &whole](rank_id rank) {
    return sum_of(chunk_of(whole, rank, group_.ranks()));
  };
  transfers out, in;
  for_peers([&](rank_id peer) {
    out.push_back({peer, piece(group_.rank()), sum_});
    in.push_back({peer, piece(peer)});
  });
  post(out, in, group_.exchange_bulk(out, in));
}

void step_exchange::start_tables() {
  transfers out, in;
  for_peers([&](rank_id peer) {
    auto& theirs = tables_[static_cast<std::size_t>(peer)].tables;
    theirs.resize(mine_->tables.size());
    for (std::size_t t = 0; t < theirs.size(); ++t) {
      const auto rows =
        static_cast<std::size_t>(words_of(peer)[fixed_words + t]);
      const auto width =
        static_cast<std::size_t>(schedule_.shape().tables[t].width);
      theirs[t].rows.resize(rows);
      theirs[t].values.resize(rows * width);
      out.push_back({peer, bytes_of(mine_->tables[t].rows), mine_});
      out.push_back({peer, bytes_of(mine_->tables[t].values), mine_});
      in.push_back({peer, std::as_writable_bytes(theirs[t].rows.span())});
      in.push_back({peer, std::as_writable_bytes(theirs[t].values.span())});
    }
  });
  post(out, in, group_.exchange(out, in));
}

result<void> step_exchange::finish_tables() {
  std::vector<gradient_set::sparse> merged(schedule_.shape().tables.size());
  for (rank_id r = 0; r < group_.ranks(); ++r) {
    const auto& from =
      r == group_.rank() ? mine_->tables : tables_[std::size_t(r)].tables;
    for (std::size_t t = 0; t < from.size(); ++t) {
      const auto rows = from[t].rows.span();
      const auto limit = schedule_.shape().tables[t].rows;
      if (!rows.empty() && (rows.front() < 0 || rows.back() >= limit))
        return fail(ec::invalid_data,
                    "rank {} has gradients for rows beyond a table of {}", r,
                    limit);
      if (std::adjacent_find(rows.begin(), rows.end(),
                             std::greater_equal<node_id>{})
          != rows.end())
        return fail(ec::invalid_data,
                    "rank {} has gradients for rows that do not ascend", r);
    }
    add_tables(merged, from);
  }
  sum_->tables = std::move(merged);
  return ok();
}

std::vector<rank_id> step_exchange::unheard(const operation& of) const {
  std::vector<rank_id> out;
  for_peers([&](rank_id peer) {
    if (!of.heard(peer))
      out.push_back(peer);
  });
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<rank_id> step_exchange::silent() const {
  for (const auto& posted : operations_)
    if (auto out = unheard(*posted); !out.empty())
      return out;
  // All words have come, and an exchange of bulk does not tell one peer from
  // another.
  std::vector<rank_id> ranks;
  for_peers([&ranks](rank_id peer) { ranks.push_back(peer); });
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

} // namespace graphmill
