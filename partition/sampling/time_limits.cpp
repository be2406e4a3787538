#include "partition/sampling/time_limits.hpp"

#include <algorithm>
#include <limits>

namespace graphmill {

time_limits::range time_limits::of(std::span<const std::int64_t> times,
                                   std::size_t list) const {
  const auto limit = until_of(list);
  const auto end = inclusive
                     ? std::upper_bound(times.begin(), times.end(), limit)
                     : std::lower_bound(times.begin(), times.end(), limit);
  auto begin = times.begin();
  if (window > 0) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    const auto from = limit < least + window ? least : limit - window;
    begin = std::lower_bound(begin, end, from);
  }
  return {static_cast<std::size_t>(begin - times.begin()),
          static_cast<std::size_t>(end - times.begin())};
}

time_limits time_limits::piece(std::size_t from, std::size_t count) const {
  auto out = *this;
  if (until.size() > 1)
    out.until = until.subspan(from, count);
  if (!rows.empty())
    out.rows = rows.subspan(from, count);
  return out;
}

result<void> time_limits::check(std::size_t lists) const {
  if (until.size() > 1 && until.size() != lists)
    return fail(ec::invalid_argument,
                "{} times are given for {} lists: one of each expected, or one "
                "of all",
                until.size(), lists);
  if (!rows.empty() && rows.size() != lists)
    return fail(ec::invalid_argument, "{} rows are given for {} lists",
                rows.size(), lists);
  if (std::ranges::any_of(rows, [](std::int64_t row) { return row < 0; }))
    return fail(ec::invalid_argument, "rows are numbers from 0 on");
  if (window < 0 || (!limited() && (inclusive || latest || window != 0)))
    return fail(ec::invalid_argument,
                "a window of {}, inclusive or latest edges need the time of a "
                "seed, and a window is not negative",
                window);
  return ok();
}

} // namespace graphmill
