#include "partition/sampling/excluded_edges.hpp"

#include <algorithm>

namespace graphmill {

namespace {

bool ascends(std::span<const edge_id> ids) {
  return std::adjacent_find(ids.begin(), ids.end(),
                            [](edge_id a, edge_id b) { return a >= b; })
         == ids.end();
}

} // namespace

excluded_view excluded_view::piece(std::size_t from, std::size_t count) const {
  if (empty())
    return *this;
  const auto begin = first + static_cast<std::int64_t>(from);
  const auto low = std::lower_bound(at.begin(), at.end(), begin);
  const auto high =
    std::lower_bound(low, at.end(), begin + static_cast<std::int64_t>(count));
  const auto skipped = static_cast<std::size_t>(low - at.begin());
  const auto size = static_cast<std::size_t>(high - low);
  return {at.subspan(skipped, size), begins.subspan(skipped, size + 1), edges,
          begin};
}

result<void> excluded_view::check(std::size_t lists) const {
  if (empty())
    return ok();
  if (begins.size() != at.size() + 1 || begins.front() < 0
      || std::cmp_greater(begins.back(), edges.size())
      || !std::is_sorted(begins.begin(), begins.end()))
    return fail(ec::invalid_argument,
                "edges are to be excluded from {} lists, but the counts of "
                "these edges are not those of as many lists",
                at.size());
  auto least = first;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] < least || std::cmp_greater_equal(at[i] - first, lists))
      return fail(ec::invalid_argument,
                  "edges are to be excluded from list {} of {}: positions of "
                  "lists ascend and are below their number",
                  at[i] - first, lists);
    least = at[i] + 1;
    if (const auto ids = of(i); ids.empty() || !ascends(ids))
      return fail(ec::invalid_argument,
                  "the edges to be excluded from list {} do not ascend, or "
                  "there are none: each list has its edges once, in order",
                  at[i] - first);
  }
  return ok();
}

void excluded_lists::add(std::size_t position, std::span<const edge_id> ids) {
  if (begins.empty())
    begins.push_back(0);
  at.push_back(static_cast<std::int64_t>(position));
  edges.insert(edges.end(), ids.begin(), ids.end());
  begins.push_back(std::ssize(edges));
}

std::uint64_t excluded_lists::byte_size() const {
  return (at.size() + begins.size() + edges.size()) * sizeof(std::int64_t);
}

excluded_edges excluded_edges::of(std::vector<entry> entries) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  excluded_edges out;
  for (const auto& [destination, edge] : entries) {
    if (out.empty() || out.destinations.back() != destination) {
      out.destinations.push_back(destination);
      out.begins.push_back(out.begins.back());
    }
    out.edges.push_back(edge);
    ++out.begins.back();
  }
  return out;
}

} // namespace graphmill
