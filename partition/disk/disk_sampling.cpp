#include "partition/disk/disk_sampling.hpp"

#include "partition/disk/covering_reads.hpp"
#include "partition/files/page_requests.hpp"
#include "partition/sampling/draws.hpp"
#include "partition/sampling/neighbour_lists.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace graphmill {

namespace {

/// Which pages `sample_neighbours` will read for a request. Only the drawing
/// itself tells which elements of a long list are read, so it draws the same
/// positions beforehand: drawing twice costs far less than a read. Kinds that
/// read lists need all of them. The original ids of all nodes, which `labor`
/// reads, are left to the system: 4 bytes for each node, wanted by every batch.
class list_requests {
public:
  list_requests(const shard& part, const neighbour_request& request)
    : edges_(part.edges(request.edge_type)),
      nodes_(part.nodes(part.info().edge_types[request.edge_type].destination)),
      request_(request), width_(edges_.indices.wide ? 8 : 4) {}

  void add_places(page_requests& pages) const {
    pages.add(edges_.indptr, nodes_.begin, request_.destinations, 2);
    if (edges_.hides(request_.level))
      pages.add(edges_.seen_counts(), nodes_.begin, request_.destinations);
    if (request_.edge_ids)
      pages.add(edges_.original_begin, nodes_.begin, request_.destinations);
    else
      for (std::size_t k = 0; k < request_.excluded.size(); ++k)
        pages.add(edges_.original_begin, nodes_.begin,
                  request_.destinations.subspan(request_.excluded.list(k), 1));
    if (request_.rule.fanout > 0)
      pages.add(nodes_.original_ids, nodes_.begin, request_.destinations);
  }

  void add_lists(page_requests& pages) {
    std::size_t next = 0; // Of the lists from which edges are excluded.
    for (std::size_t i = 0; i < request_.destinations.size(); ++i) {
      const auto id = request_.destinations[i];
      std::span<const edge_id> excluded;
      if (next < request_.excluded.size() && request_.excluded.list(next) == i)
        excluded = request_.excluded.of(next++);
      if (id < nodes_.begin || id >= nodes_.end)
        continue; // The sampling that follows reports it.
      const auto begin = edges_.indptr[id - nodes_.begin];
      const auto end = edges_.indptr[id - nodes_.begin + 1];
      // Broken lists are left out: the sampling that follows reports them.
      if (begin < 0 || begin >= end || end > edges_.indices.size)
        continue;
      if (request_.time.limited() && std::cmp_less(edges_.times.size(), end))
        continue;
      const auto seen = seen_of(edges_, request_, i,
                                static_cast<std::size_t>(id - nodes_.begin),
                                begin, end - begin);
      if (seen.degree > 0 && seen.count > 0)
        add_list(pages, i, begin + seen.first, seen, excluded);
    }
  }

  /// Times are searched: of short lists all of them are there then. A search in
  /// a long one reads few pages, which are left to faults.
  void add_times(page_requests& pages) const {
    for (const auto id : request_.destinations) {
      if (id < nodes_.begin || id >= nodes_.end)
        continue;
      const auto begin = edges_.indptr[id - nodes_.begin];
      const auto end = edges_.indptr[id - nodes_.begin + 1];
      if (begin < 0 || begin >= end
          || std::cmp_greater(end, edges_.times.size()))
        continue;
      const auto bytes =
        static_cast<std::size_t>(end - begin) * sizeof(std::int64_t);
      if (bytes <= near_bytes)
        pages.add(edges_.times.data() + begin, bytes);
    }
  }

private:
  void add_elements(page_requests& pages, std::int64_t first,
                    std::int64_t count) const {
    pages.add(edges_.indices.data + first * width_,
              static_cast<std::size_t>(count * width_));
    if ((request_.weights || reads_lists(request_.rule.kind))
        && first + count <= std::ssize(edges_.weights))
      pages.add(edges_.weights.data() + first,
                static_cast<std::size_t>(count) * sizeof(float));
    if (request_.ages && first + count <= std::ssize(edges_.times))
      pages.add(edges_.times.data() + first,
                static_cast<std::size_t>(count) * sizeof(std::int64_t));
  }

  void add_list(page_requests& pages, std::size_t i, std::int64_t begin,
                const seen_edges& seen, std::span<const edge_id> excluded) {
    const auto id = request_.destinations[i];
    const auto degree = seen.count;
    if (!seen.sorted) {
      add_elements(pages, begin, degree);
      return;
    }
    skips_.resize(excluded.size());
    const auto gone =
      find_skips(edges_, nodes_, id, seen, excluded, skips_.data());
    if (gone < 0)
      return; // Likewise.
    const auto left = degree - gone;
    if (request_.time.latest && !request_.rule.takes_all()
        && degree <= INT32_MAX) {
      const auto later =
        keep_last(static_cast<std::uint32_t>(request_.rule.fanout),
                  static_cast<std::uint32_t>(left), skips_);
      add_elements(pages, begin + later, degree - later);
      return;
    }
    if (request_.rule.takes_whole(left) || reads_lists(request_.rule.kind)
        || degree * width_ <= static_cast<std::int64_t>(near_bytes)
        || degree > INT32_MAX) {
      add_elements(pages, begin, degree);
      return;
    }
    positions_.resize(static_cast<std::size_t>(request_.rule.fanout));
    draw_positions({request_.time.key_of(request_.key, i),
                    static_cast<std::uint64_t>(nodes_.original(id)),
                    draw_middle(request_.hop, request_.edge_type)},
                   static_cast<std::uint32_t>(left), request_.rule.kind,
                   positions_);
    for (auto position : positions_)
      add_elements(pages, begin + whole_position(skips_, position), 1);
  }

  const edge_shard& edges_;
  const node_shard& nodes_;
  const neighbour_request& request_;
  std::int64_t width_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> skips_;
};

/// Asks for the pages that `sample_neighbours` will read: first where the lists
/// lie, and when that is there, of the lists what will be drawn. Whatever the
/// request and the files say: it is a hint.
void request_pages(const shard& part, const neighbour_request& request) {
  if (request.rule.fanout == 0 || request.edge_type < 0
      || request.edge_type >= std::ssize(part.info().edge_types))
    return;
  page_requests pages;
  list_requests lists{part, request};
  lists.add_places(pages);
  pages.send();
  if (request.time.limited()) {
    lists.add_times(pages);
    pages.send();
  }
  lists.add_lists(pages);
  pages.send();
}

/// Destinations whose pages are asked for at once. Most need a page or two for
/// their list, so that a piece stays within what may be asked for at a time
/// (`page_requests::most_bytes`).
constexpr std::size_t asked_ahead = 2048;

neighbour_request piece(const neighbour_request& whole, std::size_t from) {
  from = std::min(from, whole.destinations.size());
  return whole.piece(from,
                     std::min(asked_ahead, whole.destinations.size() - from));
}

/// Samples piece by piece. The pages of a piece are asked for before the piece
/// in front of it is sampled, so that the disk and the processor work at the
/// same time.
result<void> sample_pieces(const shard& part, const neighbour_request& request,
                           neighbour_reply& out) {
  // Before it is cut, which would lose what is about no destination.
  GRAPHMILL_TRYV(request.excluded.check(request.destinations.size()));
  GRAPHMILL_TRYV(request.time.check(request.destinations.size()));
  request_pages(part, piece(request, 0));
  request_pages(part, piece(request, asked_ahead));
  GRAPHMILL_TRYV(sample_neighbours(part, piece(request, 0), out));
  if (request.destinations.size() <= asked_ahead || out.too_large)
    return ok();
  const auto pool = out.counts.pool();
  std::vector<neighbour_reply> pieces;
  pieces.push_back(std::exchange(out, neighbour_reply::in(pool)));
  auto most = request.most;
  for (auto at = asked_ahead; at < request.destinations.size();
       at += asked_ahead) {
    request_pages(part, piece(request, at + asked_ahead));
    const auto& before = pieces.back();
    most -= std::ssize(before.sources.span()) / (before.wide ? 8 : 4);
    auto next = piece(request, at);
    next.most = most;
    auto some = neighbour_reply::in(pool);
    GRAPHMILL_TRYV(sample_neighbours(part, next, some));
    if (some.too_large) {
      out = std::move(some);
      return ok();
    }
    pieces.push_back(std::move(some));
  }
  out = join(std::move(pieces));
  return ok();
}

} // namespace

result<void> sample_from_disk(const shard& part,
                              const neighbour_request& request,
                              neighbour_reply& out) {
  try {
    return sample_pieces(part, request, out);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory for the in-edges of {} nodes in hop {}",
                request.destinations.size(), request.hop);
  }
}

} // namespace graphmill
