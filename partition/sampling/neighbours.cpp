#include "partition/sampling/draws.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/sampling.hpp"
#include "partition/sampling/slices.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <vector>

namespace graphmill {

namespace {

/// Copies picked elements of the index array to the answer, and, if they are
/// wanted, those of the weights, which lie in the same order. If edge ids are
/// wanted, their places in the array are written, too: `to_original_edges`
/// makes ids of them later.
template <class Id>
struct emitter {
  const Id* indices;
  Id* sources;
  edge_id* places = nullptr;
  const float* weights = nullptr; ///< Of the part; null: they are not wanted.
  float* weights_out = nullptr;
  std::size_t at = 0;

  void take_range(std::int64_t begin, std::uint32_t count) {
    std::copy_n(indices + begin, count, sources + at);
    if (places != nullptr)
      std::iota(places + at, places + at + count, begin);
    if (weights != nullptr)
      std::copy_n(weights + begin, count, weights_out + at);
    at += count;
  }
  void take(std::span<const std::int64_t> picks) {
    auto* out = sources + at;
    for (std::size_t i = 0; i < picks.size(); ++i)
      out[i] = indices[picks[i]];
    if (places != nullptr)
      std::copy(picks.begin(), picks.end(), places + at);
    if (weights != nullptr)
      for (std::size_t i = 0; i < picks.size(); ++i)
        weights_out[at + i] = weights[picks[i]];
    at += picks.size();
  }
  /// Asks for the memory that `take` will read.
  void prefetch(std::span<const std::int64_t> picks) const {
    for (auto pick : picks)
      __builtin_prefetch(indices + pick);
    if (weights != nullptr)
      for (auto pick : picks)
        __builtin_prefetch(weights + pick);
  }
};

/// Positions in the index array of a few dozen lists, in answer order. Lists
/// from which something is drawn wait until sixteen of them fill the lanes of
/// the vector unit; room for their positions is set aside when they are added,
/// so that lists taken whole can stand between them. A list has at most
/// `max_lane_fanout` positions. The window holds twice what the lanes can draw:
/// it is seldom full of whole lists before the lanes are.
class pick_window {
public:
  explicit pick_window(const neighbour_request& request) {
    draws_.key = request.key;
    draws_.middle = draw_middle(request.hop, request.edge_type);
    draws_.rule = request.rule;
  }

  std::span<const std::int64_t> picks() const { return {picks_.data(), size_}; }
  bool full() const {
    return lanes_ == lane_count || size_ + max_lane_fanout > picks_.size();
  }
  void clear() { size_ = 0; }

  void add_all(const list_place& place, edge_skips skips) {
    for (std::uint32_t j = 0; j < place.degree; ++j)
      picks_[size_++] =
        place.begin + (skips.empty() ? j : whole_position(skips, j));
  }

  void add_draw(const list_place& place, edge_skips skips, node_id original) {
    draws_.originals[lanes_] = static_cast<std::uint64_t>(original);
    draws_.degrees[lanes_] = place.degree;
    begins_[lanes_] = place.begin;
    skips_[lanes_] = skips;
    targets_[lanes_++] = size_;
    size_ += static_cast<std::size_t>(draws_.rule.fanout);
  }

  /// Draws for the lists that wait, and asks for the memory of all picks.
  template <class Id>
  void settle(const emitter<Id>& out) {
    if (lanes_ != 0) {
      // Lanes without a list get one of exactly `fanout` in-edges, from which
      // every kind can draw: with a degree of 0 the bounds of their draws would
      // wrap around.
      std::fill(draws_.originals + lanes_, draws_.originals + lane_count, 0);
      std::fill(draws_.degrees + lanes_, draws_.degrees + lane_count,
                static_cast<std::uint32_t>(draws_.rule.fanout));
      draws_.draw();
    }
    for (int l = 0; l < lanes_; ++l) {
      for (int j = 0; j < draws_.rule.fanout; ++j)
        picks_[targets_[l] + j] = begins_[l] + draws_.positions[j][l];
      if (!skips_[l].empty())
        step_over(l);
    }
    lanes_ = 0;
    out.prefetch(picks());
  }

private:
  /// Leads the picks of a lane to the list with the excluded edges.
  void step_over(int lane) {
    for (int j = 0; j < draws_.rule.fanout; ++j)
      picks_[targets_[lane] + j] =
        begins_[lane] + whole_position(skips_[lane], draws_.positions[j][lane]);
  }

  lane_draws draws_;
  int lanes_ = 0;
  std::array<std::int64_t, lane_count> begins_{};
  std::array<edge_skips, lane_count> skips_{};
  std::array<std::size_t, lane_count> targets_{};
  std::array<std::int64_t, 2 * lane_count * max_lane_fanout> picks_;
  std::size_t size_ = 0;
};

/// For fanouts of up to 32. Two windows take turns: while one is drawn, the
/// memory that the other one has asked for is on its way, and is copied
/// afterwards. Answers keep the order of the destinations, since the windows
/// are filled and emptied alternately.
template <class Id>
void sample_few(const list_task& work, emitter<Id> out) {
  const auto ids = work.request.destinations;
  std::array<pick_window, 2> windows{pick_window{work.request},
                                     pick_window{work.request}};
  const auto& originals = work.nodes.original_ids;
  const auto first = work.nodes.begin;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!originals.empty() && i + row_ahead < ids.size())
      __builtin_prefetch(&originals[ids[i + row_ahead] - first]);
    const auto& place = work.places[i];
    auto& window = windows[turn];
    const auto skips = work.skips_of(place);
    if (work.request.rule.takes_whole(place.degree))
      window.add_all(place, skips);
    else
      window.add_draw(place, skips, work.nodes.original(ids[i]));
    if (!window.full())
      continue;
    window.settle(out);
    turn ^= 1;
    out.take(windows[turn].picks());
    windows[turn].clear();
  }
  windows[turn].settle(out);
  out.take(windows[turn ^ 1].picks());
  out.take(windows[turn].picks());
}

/// Takes `count` edges of what is left of a list, from number `from` on.
template <class Id>
void take_left(emitter<Id>& out, const list_place& place, edge_skips skips,
               std::uint32_t from, std::uint32_t count) {
  while (count > 0) {
    const auto next = std::upper_bound(skips.begin(), skips.end(), from);
    const auto run =
      next == skips.end() ? count : std::min(count, *next - from);
    out.take_range(place.begin + from + (next - skips.begin()), run);
    from += run;
    count -= run;
  }
}

/// For all neighbours, for fanouts of more than 32, for kinds that read whole
/// lists, and for trees, whose draws have keys of their own. Lists are taken
/// one by one: each has enough elements to keep many reads of memory under way.
template <class Id>
result<void> sample_many(const list_task& work, emitter<Id> out) {
  const auto& request = work.request;
  list_drawer drawer{work};
  std::vector<std::uint32_t> positions;
  std::vector<std::int64_t> picks;
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    const auto& place = work.places[i];
    if (i + row_ahead < work.places.size())
      __builtin_prefetch(out.indices + work.places[i + row_ahead].begin);
    const auto skips = work.skips_of(place);
    if (request.rule.takes_whole(place.degree)) {
      take_left(out, place, skips, 0, place.degree);
      continue;
    }
    const auto count = static_cast<std::size_t>(request.rule.fanout);
    positions.resize(count);
    drawer.draw(place, request.destinations[i], positions);
    picks.resize(count);
    for (std::size_t j = 0; j < count; ++j)
      picks[j] = place.begin + whole_position(skips, positions[j]);
    out.prefetch(picks);
    out.take(picks);
  }
  return drawer.check();
}

template <class Id>
emitter<Id> emitter_of(const list_task& work, neighbour_reply& out) {
  const auto& request = work.request;
  return {reinterpret_cast<const Id*>(work.edges.indices.data),
          reinterpret_cast<Id*>(out.sources.data()),
          !out.places.empty() ? out.places.data()
          : request.edge_ids  ? out.edge_ids.data()
                              : nullptr,
          request.weights ? work.edges.weights.data() : nullptr,
          request.weights ? out.weights.data() : nullptr};
}

/// Makes room for an answer of `total` sources.
void make_room(const list_task& work, std::size_t total, neighbour_reply& out) {
  out.sources.resize(total * (out.wide ? 8 : 4));
  out.edge_ids.resize(work.request.edge_ids ? total : 0);
  // Ages are those of the edges at the places.
  out.places.resize(work.request.places || work.request.ages ? total : 0);
  out.weights.resize(work.request.weights ? total : 0);
}

/// The edges of lists whose sources are some of certain nodes, list after list.
template <class Id>
class source_filter {
public:
  /// @param most Sources that there may be in all.
  source_filter(const list_task& work, std::int64_t most, neighbour_reply& out)
    : work_(work), among_(*work.request.among),
      most_(static_cast<std::size_t>(most)), out_(out),
      indices_(reinterpret_cast<const Id*>(work.edges.indices.data)) {}

  /// Takes the edges of list `i` but for the first `skip` ones, and no more
  /// than `most` of them. @returns how many there are.
  std::int64_t take(std::size_t i, std::int64_t skip, std::int64_t most) {
    const auto& place = work_.places[i];
    const auto skips = work_.skips_of(place);
    if (picks_.size() < place.degree)
      picks_.resize(place.degree);
    std::size_t found = 0;
    for (std::uint32_t j = 0; j < place.degree; ++j) {
      const auto at =
        place.begin + (skips.empty() ? j : whole_position(skips, j));
      const auto id = static_cast<node_id>(indices_[at]);
      sound_ &= id >= 0 && id < work_.source_count;
      picks_[found] = at;
      found += among_.numbers->find(id, *among_.ids) >= 0 ? 1 : 0;
    }
    const auto count = static_cast<std::int64_t>(found);
    const auto first = std::min(skip, count);
    const auto taken = std::min(most, count - first);
    append(std::span{picks_}.subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(taken)));
    return count;
  }

  bool sound() const { return sound_; }

private:
  /// Doubles an array that is full, but not beyond all edges of the lists: the
  /// bound of a batch is of those.
  template <class T>
  void grow(pod_vector<T>& values, std::size_t more, std::size_t each) const {
    const auto wanted = values.size() + more * each;
    if (wanted > values.capacity())
      values.reserve(
        std::max(wanted, std::min(2 * values.size(), most_ * each)));
    values.resize(wanted);
  }

  void append(std::span<const std::int64_t> picks) {
    const auto& request = work_.request;
    const auto count = picks.size();
    grow(out_.sources, count, sizeof(Id));
    auto* to = reinterpret_cast<Id*>(out_.sources.end()) - count;
    for (const auto pick : picks)
      *to++ = indices_[pick];
    if (request.places || request.ages) {
      grow(out_.places, count, 1);
      std::copy(picks.begin(), picks.end(), out_.places.end() - count);
    }
    if (request.edge_ids) {
      grow(out_.edge_ids, count, 1);
      std::copy(picks.begin(), picks.end(), out_.edge_ids.end() - count);
    }
    if (request.weights) {
      grow(out_.weights, count, 1);
      auto* weight = out_.weights.end() - count;
      for (const auto pick : picks)
        *weight++ = work_.edges.weights[static_cast<std::size_t>(pick)];
    }
  }

  const list_task& work_;
  const node_subset& among_;
  const std::size_t most_;
  neighbour_reply& out_;
  const Id* indices_;
  std::vector<std::int64_t> picks_;
  bool sound_ = true;
};

result<void> check_sources(const list_task& work, bool sound) {
  if (sound || mapped_file::first_fault())
    return ok();
  return fail(ec::invalid_data,
              "an in-edge of a node comes from no node: there are {}; "
              "`graphmill inspect` says what else is broken",
              work.source_count);
}

/// @param edges Of all lists.
template <class Id>
result<void> take_among(const list_task& work, std::int64_t edges,
                        neighbour_reply& out) {
  const auto most = work.request.most;
  source_filter<Id> filter{work, std::min(edges, most), out};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < work.places.size(); ++i) {
    const auto count = filter.take(i, 0, most - total);
    out.counts[i] = static_cast<std::int32_t>(count);
    total += count;
    if (total <= most)
      continue;
    make_room(work, 0, out);
    out.too_large = true;
    break;
  }
  return check_sources(work, filter.sound());
}

template <class Id>
result<void> sample_as(const list_task& work, neighbour_reply& out) {
  const auto emit = emitter_of<Id>(work, out);
  const auto& rule = work.request.rule;
  if (rule.fanout > 0 && rule.fanout <= max_lane_fanout
      && !reads_lists(rule.kind) && work.request.time.rows.empty())
    sample_few(work, emit);
  else if (rule.fanout != 0)
    return sample_many(work, emit);
  return ok();
}

/// Replaces the places of the edges, unless they are wanted, too, by ages.
void to_ages(const list_task& work, neighbour_reply& out) {
  const auto& request = work.request;
  if (!request.ages)
    return;
  out.ages.resize(out.places.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < out.counts.size(); ++i) {
    // Fewer, where a slice of the list is answered.
    const auto end =
      std::min(at + static_cast<std::size_t>(out.counts[i]), out.places.size());
    for (; at < end; ++at)
      out.ages[at] = request.time.age(
        i, work.edges.times[static_cast<std::size_t>(out.places[at])]);
  }
  if (!request.places)
    out.places.clear();
}

list_task task_of(const shard& graph, const neighbour_request& request,
                  std::shared_ptr<buffer_pool> pool) {
  const auto& type = graph.info().edge_types[request.edge_type];
  return {graph.edges(request.edge_type),
          graph.nodes(type.destination),
          request,
          pod_vector<list_place>{std::move(pool)},
          {},
          graph.nodes(type.source),
          type.source,
          graph.info().node_types[type.source].count};
}

result<void> answer(const shard& graph, const neighbour_request& request,
                    neighbour_reply& out) {
  const auto& type = graph.info().edge_types[request.edge_type];
  auto work = task_of(graph, request, out.counts.pool());
  work.places.resize(request.destinations.size());
  out.counts.resize(request.destinations.size());
  out.wide = work.edges.indices.wide;
  out.too_large = false;
  GRAPHMILL_TRY(const auto total,
                find_lists(work, type.max_in_degree, out.counts));
  if (request.among != nullptr) {
    make_room(work, 0, out);
    GRAPHMILL_TRYV(out.wide ? take_among<std::int64_t>(work, total, out)
                            : take_among<std::int32_t>(work, total, out));
  } else {
    make_room(work, static_cast<std::size_t>(total), out);
    GRAPHMILL_TRYV(out.wide ? sample_as<std::int64_t>(work, out)
                            : sample_as<std::int32_t>(work, out));
  }
  GRAPHMILL_TRYV(to_original_edges(work, type.count, out));
  to_ages(work, out);
  return ok();
}

/// Takes some sources of one list, in the order of `sample_many`. Draws cannot
/// be begun in the middle, for positions are sorted after all of them have been
/// drawn: every slice of a drawn list draws the whole list again.
template <class Id>
result<void> take_slice(const list_task& work, std::int64_t skip,
                        neighbour_reply& out) {
  const auto& request = work.request;
  const auto& place = work.places[0];
  const auto wanted = out.sources.size() / sizeof(Id);
  auto emit = emitter_of<Id>(work, out);
  const auto skips = work.skips_of(place);
  if (request.rule.takes_whole(place.degree)) {
    take_left(emit, place, skips, static_cast<std::uint32_t>(skip),
              static_cast<std::uint32_t>(wanted));
    return ok();
  }
  std::vector<std::uint32_t> positions(
    static_cast<std::size_t>(request.rule.fanout));
  list_drawer drawer{work};
  drawer.draw(place, request.destinations[0], positions);
  GRAPHMILL_TRYV(drawer.check());
  std::vector<std::int64_t> picks(wanted);
  for (std::size_t j = 0; j < wanted; ++j)
    picks[j] =
      place.begin
      + whole_position(skips, positions[static_cast<std::size_t>(skip) + j]);
  emit.take(picks);
  return ok();
}

template <class Id>
result<void> slice_among(const list_task& work, const source_slice& slice,
                         neighbour_reply& out) {
  make_room(work, 0, out);
  source_filter<Id> filter{work, slice.most, out};
  out.counts[0] =
    static_cast<std::int32_t>(filter.take(0, slice.skip, slice.most));
  return check_sources(work, filter.sound());
}

result<void> answer_slice(const shard& graph, const neighbour_request& request,
                          const source_slice& slice, neighbour_reply& out) {
  const auto& type = graph.info().edge_types[request.edge_type];
  auto work = task_of(graph, request, out.counts.pool());
  work.places.resize(1);
  out.counts.resize(1);
  out.wide = work.edges.indices.wide;
  GRAPHMILL_TRY(const auto total,
                find_lists(work, type.max_in_degree, out.counts));
  if (request.among != nullptr) {
    GRAPHMILL_TRYV(out.wide ? slice_among<std::int64_t>(work, slice, out)
                            : slice_among<std::int32_t>(work, slice, out));
    GRAPHMILL_TRYV(to_original_edges(work, type.count, out));
    to_ages(work, out);
    return ok();
  }
  const auto wanted = static_cast<std::size_t>(
    std::clamp<std::int64_t>(total - slice.skip, 0, slice.most));
  make_room(work, wanted, out);
  if (wanted == 0)
    return ok();
  GRAPHMILL_TRYV(out.wide ? take_slice<std::int64_t>(work, slice.skip, out)
                          : take_slice<std::int32_t>(work, slice.skip, out));
  GRAPHMILL_TRYV(to_original_edges(work, type.count, out));
  to_ages(work, out);
  return ok();
}

} // namespace

result<void> sample_slice(const shard& graph, const neighbour_request& request,
                          const source_slice& slice, neighbour_reply& out) {
  GRAPHMILL_TRYV(check_lists(graph, request));
  if (slice.most < 1 || slice.skip < 0 || request.destinations.size() != 1)
    return fail(ec::invalid_argument,
                "{} sources from number {} on are asked for, of {} nodes: a "
                "slice is of one node",
                slice.most, slice.skip, request.destinations.size());
  try {
    return answer_slice(graph, request, slice, out);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory for a slice of the in-edges of a node in hop {}",
                request.hop);
  }
}

result<void> sample_neighbours(const shard& graph,
                               const neighbour_request& request,
                               neighbour_reply& out) {
  GRAPHMILL_TRYV(check_lists(graph, request));
  try {
    return answer(graph, request, out);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory for the in-edges of {} nodes in hop {}",
                request.destinations.size(), request.hop);
  }
}

} // namespace graphmill
