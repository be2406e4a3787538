#include "partition/sampling/reply_merge.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <type_traits>

namespace graphmill {

namespace {

template <class From, class Id>
void copy_ids(const std::byte* from, std::size_t at, std::size_t count,
              Id* out) {
  const auto* first = reinterpret_cast<const From*>(from) + at;
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<Id>(first[i]);
}

template <class Id>
void copy_ids(const neighbour_reply& reply, std::size_t at, std::size_t count,
              Id* out) {
  if (reply.wide)
    copy_ids<std::int64_t>(reply.sources.data(), at, count, out);
  else
    copy_ids<std::int32_t>(reply.sources.data(), at, count, out);
}

/// Whether all ids are in [0, count). Negative ones are huge when unsigned, so
/// the greatest tells of them, too, in a loop without branches.
template <class Id>
bool all_below(const Id* ids, std::size_t size, std::int64_t count) {
  using word = std::make_unsigned_t<Id>;
  word largest = 0;
  for (std::size_t i = 0; i < size; ++i)
    largest = std::max(largest, static_cast<word>(ids[i]));
  return size == 0 || largest < static_cast<std::uint64_t>(count);
}

std::size_t sources_of(const neighbour_reply& reply) {
  return reply.sources.size() / (reply.wide ? 8 : 4);
}

} // namespace

bool are_weights(std::span<const float> values) {
  // The bits of what is no weight are greater than those of all that are: of
  // numbers below 0 by the sign, of others by the exponent. So the greatest
  // tells of them, in a loop without branches. Adding 0 makes 0 of -0.
  std::uint32_t largest = 0;
  for (const auto value : values)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value + 0.0f));
  return largest
         < std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
}

result<std::int64_t> check_reply(const dataset_info& info, part_id part,
                                 const neighbour_request& request,
                                 const neighbour_reply& reply) {
  const auto bad = [part, &request](std::string_view name) {
    return fail(ec::invalid_data,
                "the answer of part {} for edge type {} in hop {} is broken: "
                "{}",
                part, request.edge_type, request.hop, name);
  };
  const auto& type = info.edge_types[request.edge_type];
  if (reply.counts.size() != request.destinations.size())
    return bad("it has another number of lists than nodes were asked for");
  const auto most = request.rule.sources_of(type.max_in_degree);
  std::int64_t total = 0;
  for (auto count : reply.counts) {
    if (count < 0 || count > most)
      return bad("a list is longer than was asked for");
    total += count;
  }
  const auto size = static_cast<std::size_t>(total);
  if (reply.sources.size() != size * (reply.wide ? 8 : 4))
    return bad("its sources are not as many as its counts say");
  if (reply.edge_ids.size() != (request.edge_ids ? size : 0))
    return bad("its edge ids are not as many as were asked for");
  if (reply.weights.size() != (request.weights ? size : 0))
    return bad("its weights are not as many as were asked for");
  if (reply.places.size() != (request.places ? size : 0))
    return bad("its places are not as many as were asked for");
  if (reply.ages.size() != (request.ages ? size : 0))
    return bad("its ages are not as many as were asked for");
  const auto nodes = info.node_types[type.source].count;
  const auto* ids = reply.sources.data();
  if (reply.wide
        ? !all_below(reinterpret_cast<const std::int64_t*>(ids), size, nodes)
        : !all_below(reinterpret_cast<const std::int32_t*>(ids), size, nodes))
    return bad("a source is not a node of its type");
  if (!all_below(reply.edge_ids.data(), reply.edge_ids.size(), type.count))
    return bad("an edge id is not an edge of its type");
  if (!all_below(reply.places.data(), reply.places.size(), type.count))
    return bad("a place is not that of an edge of its type");
  if (!are_weights(reply.weights.span()))
    return bad("a weight is below 0, or no finite number");
  if (!are_weights(reply.ages.span()))
    return bad("an age is below 0, or no finite number");
  return total;
}

bool reply_merge::wide() const {
  return std::any_of(replies.begin(), replies.end(), [](const auto* reply) {
    return reply != nullptr && reply->wide;
  });
}

std::size_t reply_merge::sources() const {
  std::size_t sum = 0;
  for (const auto* reply : replies)
    sum += reply == nullptr ? 0 : sources_of(*reply);
  return sum;
}

/// Calls `visit(row, reply, list, at)` for each row: with its list's number in
/// the reply of its owner and where the list's sources begin there. The reply
/// is null for rows whose owner was not asked.
template <class Visit>
void reply_merge::for_each_row(Visit visit) const {
  struct cursor {
    std::size_t list = 0;
    std::size_t at = 0;
  };
  std::vector<cursor> cursors(replies.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const auto part = static_cast<std::size_t>(single() ? 0 : owners[i]);
    const auto* reply = replies[part];
    auto& [list, at] = cursors[part];
    visit(i, reply, list, at);
    if (reply != nullptr)
      at += static_cast<std::size_t>(reply->counts[list++]);
  }
}

void reply_merge::write_indptr(std::int64_t sum, std::int64_t* indptr) const {
  for_each_row([&sum, indptr](std::size_t row, const neighbour_reply* reply,
                              std::size_t list, std::size_t) {
    sum += reply == nullptr ? 0 : reply->counts[list];
    indptr[row] = sum;
  });
}

template <class Id>
void reply_merge::write_sources(Id* out) const {
  if (single()) {
    if (replies[0] != nullptr)
      copy_ids(*replies[0], 0, sources_of(*replies[0]), out);
    return;
  }
  for_each_row([&out](std::size_t, const neighbour_reply* reply,
                      std::size_t list, std::size_t at) {
    if (reply == nullptr)
      return;
    const auto count = static_cast<std::size_t>(reply->counts[list]);
    copy_ids(*reply, at, count, out);
    out += count;
  });
}

template void reply_merge::write_sources(std::int32_t*) const;
template void reply_merge::write_sources(std::int64_t*) const;

/// Writes what an array of the answers has for each source.
template <class T>
void reply_merge::write_each(pod_vector<T> neighbour_reply::*array,
                             T* out) const {
  for_each_row([&out, array](std::size_t, const neighbour_reply* reply,
                             std::size_t list, std::size_t at) {
    if (reply != nullptr)
      out = std::copy_n((reply->*array).data() + at, reply->counts[list], out);
  });
}

void reply_merge::write_edge_ids(edge_id* out) const {
  write_each(&neighbour_reply::edge_ids, out);
}

void reply_merge::write_places(edge_id* out) const {
  write_each(&neighbour_reply::places, out);
}

void reply_merge::write_weights(float* out) const {
  write_each(&neighbour_reply::weights, out);
}

void reply_merge::write_ages(float* out) const {
  write_each(&neighbour_reply::ages, out);
}

} // namespace graphmill
