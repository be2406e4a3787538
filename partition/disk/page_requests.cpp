#include "partition/disk/page_requests.hpp"

#include "partition/disk/read_plan.hpp"
#include "partition/draws.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace graphmill {

namespace {

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// What of the lists will be read.
class list_requests {
public:
  list_requests(const shard& part, const neighbour_request& request)
    : edges_(part.edges(request.edge_type)),
      nodes_(part.nodes(part.info().edge_types[request.edge_type].destination)),
      request_(request), width_(edges_.indices.wide ? 8 : 4) {}

  void add_places(page_requests& pages) const {
    pages.add(edges_.indptr, nodes_.begin, request_.destinations, 2);
    if (request_.edge_ids)
      pages.add(edges_.original_begin, nodes_.begin, request_.destinations);
    if (request_.fanout > 0)
      pages.add(nodes_.original_ids, nodes_.begin, request_.destinations);
  }

  void add_lists(page_requests& pages) {
    for (auto id : request_.destinations) {
      if (id < nodes_.begin || id >= nodes_.end)
        continue; // Whoever samples says so.
      const auto begin = edges_.indptr[id - nodes_.begin];
      const auto end = edges_.indptr[id - nodes_.begin + 1];
      // Broken lists are reported by whoever reads them.
      if (begin >= 0 && begin < end && end <= edges_.indices.size)
        add_list(pages, id, begin, end - begin);
    }
  }

private:
  void add_elements(page_requests& pages, std::int64_t first,
                    std::int64_t count) const {
    pages.add(edges_.indices.data + first * width_,
              static_cast<std::size_t>(count * width_));
  }

  void add_list(page_requests& pages, node_id id, std::int64_t begin,
                std::int64_t degree) {
    const auto drawn =
      request_.fanout > 0 && (request_.replace || degree > request_.fanout);
    if (!drawn || degree * width_ <= static_cast<std::int64_t>(near_bytes)
        || degree > INT32_MAX) {
      add_elements(pages, begin, degree);
      return;
    }
    positions_.resize(static_cast<std::size_t>(request_.fanout));
    draw_positions(
      {request_.key, static_cast<std::uint64_t>(nodes_.original(id)),
       draw_middle(request_.hop, request_.edge_type)},
      static_cast<std::uint32_t>(degree), request_.replace, positions_);
    for (auto position : positions_)
      add_elements(pages, begin + position, 1);
  }

  const edge_shard& edges_;
  const node_shard& nodes_;
  const neighbour_request& request_;
  std::int64_t width_;
  std::vector<std::uint32_t> positions_;
};

} // namespace

void page_requests::add(const void* from, std::size_t bytes) {
  if (bytes == 0)
    return;
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  const auto begin = at / page_size() * page_size();
  const auto end = (at + bytes + page_size() - 1) / page_size() * page_size();
  if (ranges_.empty() || ranges_.back() != std::pair{begin, end})
    ranges_.emplace_back(begin, end);
}

void page_requests::send() {
  std::sort(ranges_.begin(), ranges_.end());
  std::size_t left = most_bytes;
  for (std::size_t i = 0; i < ranges_.size() && left != 0;) {
    auto [begin, end] = ranges_[i++];
    while (i < ranges_.size() && ranges_[i].first <= end)
      end = std::max(end, ranges_[i++].second);
    const auto bytes = std::min<std::size_t>(end - begin, left);
    ::madvise(reinterpret_cast<void*>(begin), bytes, MADV_WILLNEED);
    left -= bytes;
  }
  ranges_.clear();
}

void request_pages(const shard& part, const neighbour_request& request) {
  if (request.fanout == 0 || request.edge_type < 0
      || request.edge_type >= std::ssize(part.info().edge_types))
    return;
  page_requests pages;
  list_requests lists{part, request};
  lists.add_places(pages);
  pages.send();
  lists.add_lists(pages);
  pages.send();
}

void request_pages(const shard& part, const spread_request& request,
                   const spread_limits& limits) {
  const auto& edges = part.edges(request.edge_type);
  const auto type = part.info().edge_types[request.edge_type].destination;
  const auto first = request.first - part.nodes(type).begin;
  const auto lists = edges.indptr.subspan(static_cast<std::size_t>(first),
                                          request.chances.size() + 1);
  page_requests pages;
  pages.add(lists.data(), lists.size_bytes());
  pages.send();
  const auto size = edges.indices.size;
  const auto start = std::clamp<std::int64_t>(lists.front(), 0, size);
  const auto end = std::clamp<std::int64_t>(lists.back(), start, size);
  const auto begin =
    start + std::clamp<std::int64_t>(request.skip, 0, end - start);
  const std::int64_t width = edges.indices.wide ? 8 : 4;
  pages.add(
    edges.indices.data + begin * width,
    static_cast<std::size_t>(std::min(end - begin, limits.edges) * width));
  pages.send();
}

} // namespace graphmill
