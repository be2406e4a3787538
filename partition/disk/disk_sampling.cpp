#include "partition/disk/disk_sampling.hpp"

#include "partition/disk/page_requests.hpp"

#include <algorithm>
#include <new>

namespace graphmill {

namespace {

/// Destinations whose pages are asked for at once: a page or two each.
constexpr std::size_t asked_ahead = 2048;

neighbour_request piece(const neighbour_request& whole, std::size_t from) {
  auto out = whole;
  from = std::min(from, whole.destinations.size());
  out.destinations = whole.destinations.subspan(
    from, std::min(asked_ahead, whole.destinations.size() - from));
  return out;
}

/// Piece by piece, the pages of each asked for before the one in front of it is
/// at work.
result<void> sample_pieces(const shard& part, const neighbour_request& request,
                           neighbour_reply& out) {
  neighbour_reply some{pod_vector<std::int32_t>{out.counts.pool()},
                       pod_vector<std::byte>{out.sources.pool()}, false,
                       pod_vector<edge_id>{out.edge_ids.pool()}};
  request_pages(part, piece(request, 0));
  request_pages(part, piece(request, asked_ahead));
  TRYV(sample_neighbours(part, piece(request, 0), out));
  for (auto at = asked_ahead; at < request.destinations.size();
       at += asked_ahead) {
    request_pages(part, piece(request, at + asked_ahead));
    TRYV(sample_neighbours(part, piece(request, at), some));
    out.counts.append(some.counts.span());
    out.sources.append(some.sources.span());
    out.edge_ids.append(some.edge_ids.span());
  }
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
