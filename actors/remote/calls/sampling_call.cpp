#include "actors/remote/calls/sampling_call.hpp"

#include "actors/remote/calls/excluded_call.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

constexpr std::int64_t most_narrow = std::numeric_limits<std::int32_t>::max();

/// Sources that a destination is likely to have at the most. How many in-edges
/// it has is only known where it lives.
std::uint64_t likely_sources(const dataset_info& info,
                             const neighbour_request& request) {
  const auto& type = info.edge_types[request.edge_type];
  if (!request.rule.takes_all())
    return static_cast<std::uint64_t>(
      request.rule.sources_of(type.max_in_degree));
  const auto nodes = info.node_types[type.destination].count;
  const auto average = type.count / std::max<std::int64_t>(nodes, 1) + 1;
  return static_cast<std::uint64_t>(std::min(type.max_in_degree, 4 * average));
}

/// Bytes of a source in an answer. @param id Of its id.
std::uint64_t source_bytes(const neighbour_request& request, std::uint64_t id) {
  return id + (request.edge_ids ? sizeof(edge_id) : 0)
         + (request.weights ? sizeof(float) : 0)
         + (request.places ? sizeof(edge_id) : 0)
         + (request.ages ? sizeof(float) : 0);
}

std::uint64_t likely_bytes(const dataset_info& info,
                           const neighbour_request& request) {
  return 1 + source_bytes(request, 4) * likely_sources(info, request);
}

/// Whether one message can ask both: it names the nodes of one batch alone.
bool about_same_nodes(const remote_sampling& a, const remote_sampling& b) {
  const auto* one = a.request.among;
  const auto* other = b.request.among;
  if (one == nullptr || other == nullptr)
    return one == other;
  return a.owner == b.owner && one->type == other->type;
}

/// Adds calls so that the last one has room.
class call_packer {
public:
  explicit call_packer(std::uint64_t limit) : limit_(limit) {}

  void add(const std::shared_ptr<remote_sampling>& request,
           std::uint64_t each) {
    const auto total = request->request.destinations.size();
    for (std::size_t from = 0; from < total;) {
      if (calls_.empty() || used_ + each > limit_
          || calls_.back().pieces.size() == max_queries
          || !about_same_nodes(*calls_.back().pieces.back().of, *request))
        open();
      const auto room = std::max<std::uint64_t>((limit_ - used_) / each, 1);
      const auto count = std::min<std::uint64_t>(room, total - from);
      calls_.back().pieces.push_back(
        {request, from, static_cast<std::size_t>(count)});
      used_ = std::min(limit_, used_ + count * each);
      from += static_cast<std::size_t>(count);
    }
  }

  std::vector<sampling_call> take() { return std::move(calls_); }

private:
  void open() {
    calls_.emplace_back();
    used_ = 0;
  }

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::vector<sampling_call> calls_;
};

std::vector<sampling_call> first_slice(const sampling_call& call,
                                       std::uint64_t reply_bytes) {
  const auto first = std::find_if(call.pieces.begin(), call.pieces.end(),
                                  [](const auto& p) { return p.count != 0; });
  if (first == call.pieces.end() || first->most != 0)
    return {};
  const auto source = source_bytes(first->of->request, sizeof(node_id));
  sampling_call out{{*first}};
  out.pieces[0].most =
    static_cast<std::int64_t>(std::max<std::uint64_t>(reply_bytes / source, 1));
  return {out};
}

/// Checks that the arrays of a piece fit each other, and how many sources its
/// destinations have in all.
result<void> check_counts(const sampling_piece& piece,
                          const neighbour_arrays& arrays, std::uint64_t total) {
  auto expected = total;
  if (piece.most != 0) {
    const auto skip = static_cast<std::uint64_t>(piece.skip);
    expected = total < skip ? 0
                            : std::min(total - skip,
                                       static_cast<std::uint64_t>(piece.most));
  }
  const auto edge_ids = piece.of->request.edge_ids ? expected : 0;
  const auto weights = piece.of->request.weights ? expected : 0;
  const auto places = piece.of->request.places ? expected : 0;
  const auto ages = piece.of->request.ages ? expected : 0;
  if (arrays.places.count != places || arrays.ages.count != ages)
    return fail(ec::invalid_data,
                "the answer has places of {} edges and ages of {}; {} and {} "
                "expected for {} sampled in-edges",
                arrays.places.count, arrays.ages.count, places, ages, total);
  if (arrays.sources.count == expected && arrays.edge_ids.count == edge_ids
      && arrays.weights.count == weights)
    return ok();
  return fail(ec::invalid_data,
              "the answer has {} sources, {} edge ids and {} weights; {}, {} "
              "and {} expected for {} sampled in-edges",
              arrays.sources.count, arrays.edge_ids.count, arrays.weights.count,
              expected, edge_ids, weights, total);
}

result<neighbour_reply> read_piece(const dataset_info& info,
                                   const sampling_piece& piece,
                                   const neighbour_arrays& arrays,
                                   const payload& from,
                                   const std::shared_ptr<buffer_pool>& pool) {
  const auto& request = piece.of->request;
  const auto& type = info.edge_types[request.edge_type];
  auto out = neighbour_reply::in(pool);
  if (arrays.counts.count != piece.count)
    return fail(ec::invalid_data,
                "the request was for the in-edges of {} nodes, the answer has "
                "those of {}",
                piece.count, arrays.counts.count);
  out.counts.resize(piece.count);
  GRAPHMILL_TRYV(read_integers(arrays.counts, from.bulk, out.counts.data()));
  const auto total =
    std::accumulate(out.counts.begin(), out.counts.end(), std::uint64_t{0});
  const auto most =
    static_cast<std::uint64_t>(request.rule.sources_of(type.max_in_degree));
  if (piece.most != 0 && total > most)
    return fail(
      ec::invalid_data,
      "the answer has {} sampled in-edges of a node; at most {} are possible",
      total, most);
  GRAPHMILL_TRYV(check_counts(piece, arrays, total));
  const auto size = static_cast<std::size_t>(arrays.sources.count);
  const auto nodes = info.node_types[type.source].count;
  // By the dataset, not by the message: pieces are joined.
  out.wide = nodes > most_narrow;
  out.sources.resize(size * (out.wide ? 8 : 4));
  auto* ids = out.sources.data();
  if (out.wide)
    read_integers(arrays.sources, from.bulk,
                  reinterpret_cast<std::int64_t*>(ids));
  else
    GRAPHMILL_TRYV(read_integers(arrays.sources, from.bulk,
                                 reinterpret_cast<std::int32_t*>(ids), 0,
                                 static_cast<std::int32_t>(nodes - 1)));
  out.edge_ids.resize(request.edge_ids ? size : 0);
  if (request.edge_ids)
    read_integers(arrays.edge_ids, from.bulk, out.edge_ids.data());
  out.weights.resize(request.weights ? size : 0);
  if (request.weights)
    read_floats(arrays.weights, from.bulk, out.weights.data());
  out.places.resize(request.places ? size : 0);
  if (request.places)
    read_integers(arrays.places, from.bulk, out.places.data());
  out.ages.resize(request.ages ? size : 0);
  if (request.ages)
    read_floats(arrays.ages, from.bulk, out.ages.data());
  return out;
}

/// Adds a slice to those before it.
result<std::optional<sampling_piece>> add_slice(const dataset_info& info,
                                                const sampling_piece& piece,
                                                neighbour_reply part) {
  auto& job = *piece.of;
  const auto total = std::int64_t{part.counts[0]};
  const auto [at, first] = job.slices.try_emplace(piece.from);
  auto& whole = at->second;
  const auto end =
    piece.skip
    + static_cast<std::int64_t>(part.sources.size() / (part.wide ? 8 : 4));
  if (first) {
    // Room for all of it, which the batch has reserved.
    const auto size = static_cast<std::size_t>(total);
    part.sources.reserve(size * (part.wide ? 8 : 4));
    part.edge_ids.reserve(job.request.edge_ids ? size : 0);
    part.weights.reserve(job.request.weights ? size : 0);
    part.places.reserve(job.request.places ? size : 0);
    part.ages.reserve(job.request.ages ? size : 0);
    whole = std::move(part);
  } else if (whole.counts[0] != total) {
    return fail(ec::invalid_data,
                "a node had {} sampled in-edges and now has {}",
                whole.counts[0], total);
  } else {
    whole.append_sources(part);
  }
  if (end < total) {
    auto next = piece;
    next.skip = end;
    return std::optional{next};
  }
  job.add(info, piece.from, 1, std::move(whole));
  job.slices.erase(at);
  return std::optional<sampling_piece>{};
}

} // namespace

remote_sampling::remote_sampling(neighbour_request wanted,
                                 std::shared_ptr<const void> owner,
                                 std::size_t most_named)
  : request(wanted), owner(std::move(owner)) {
  if (request.among != nullptr && request.among->ids->size() > most_named)
    kept = std::exchange(request.among, nullptr);
}

void remote_sampling::add(const dataset_info& info, std::size_t from,
                          std::size_t count, neighbour_reply reply) {
  if (kept != nullptr)
    reply.keep_among(
      *kept, info.node_types[static_cast<std::size_t>(kept->type)].count);
  pieces.push_back({from, std::move(reply)});
  answered += count;
}

neighbour_reply remote_sampling::take() {
  std::sort(pieces.begin(), pieces.end(),
            [](const piece& a, const piece& b) { return a.from < b.from; });
  std::vector<neighbour_reply> replies;
  for (auto& piece : pieces)
    replies.push_back(std::move(piece.reply));
  pieces.clear();
  return join(std::move(replies));
}

bool sampling_call::wanted() const {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const sampling_piece& p) { return !p.of->over; });
}

result<payload> sampling_call::encoded(const std::string& run, part_id part,
                                       std::uint64_t& ids_bytes) const {
  bulk_writer arrays;
  const auto& first = pieces.front().of->request;
  sample_request message{run, part, first.key, first.hop, {}};
  // Those of `about_same_nodes` have the same nodes of a type.
  for (const auto& piece : pieces)
    if (const auto* among = piece.of->request.among; among != nullptr) {
      const auto type = static_cast<std::size_t>(among->type);
      message.among.resize(std::max(message.among.size(), type + 1));
      if (message.among[type].count == 0)
        message.among[type] =
          arrays.add_integers(among->ids->span(), piece.of->owner);
    }
  for (const auto& piece : pieces) {
    const auto& asked = piece.of->request;
    const auto time = asked.time.piece(piece.from, piece.count);
    message.queries.push_back(
      {.edge_type = asked.edge_type,
       .rule = asked.rule,
       .edge_ids = asked.edge_ids,
       .destinations =
         arrays.add_integers(piece.destinations(), piece.of->owner),
       .most = piece.most,
       .skip = piece.skip,
       .weights = asked.weights,
       .excluded =
         write_excluded(asked.excluded.piece(piece.from, piece.count), arrays),
       .level = static_cast<std::uint8_t>(asked.level),
       .places = asked.places,
       .until = arrays.add_integers(time.until),
       .inclusive = time.inclusive,
       .latest = time.latest,
       .window = time.window,
       .rows = arrays.add_integers(time.rows),
       .among = asked.among != nullptr,
       .ages = asked.ages});
  }
  ids_bytes = arrays.byte_size();
  return encode(message, std::move(arrays));
}

std::vector<sampling_call>
sampling_call::smaller(std::uint64_t reply_bytes) const {
  std::size_t total = 0;
  for (const auto& piece : pieces)
    total += piece.count;
  if (total < 2)
    return first_slice(*this, reply_bytes);
  std::vector<sampling_call> out(2);
  auto left = total / 2;
  for (const auto& piece : pieces) {
    const auto here = std::min(left, piece.count);
    if (here != 0)
      out[0].pieces.push_back({piece.of, piece.from, here});
    if (here != piece.count)
      out[1].pieces.push_back(
        {piece.of, piece.from + here, piece.count - here});
    left -= here;
  }
  return out;
}

std::vector<sampling_call>
cut_calls(const dataset_info& info,
          std::span<const std::shared_ptr<remote_sampling>> requests,
          std::uint64_t reply_bytes) {
  call_packer packer{reply_bytes};
  for (const auto& request : requests)
    packer.add(request, likely_bytes(info, request->request));
  return packer.take();
}

result<std::optional<sampling_piece>>
accept_piece(const dataset_info& info, const sampling_piece& piece,
             const neighbour_arrays& arrays, const payload& from,
             const std::shared_ptr<buffer_pool>& pool) {
  GRAPHMILL_TRY(auto part, read_piece(info, piece, arrays, from, pool));
  if (piece.most != 0)
    return add_slice(info, piece, std::move(part));
  piece.of->add(info, piece.from, piece.count, std::move(part));
  return std::optional<sampling_piece>{};
}

} // namespace graphmill
