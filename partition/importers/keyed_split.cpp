#include "partition/importers/keyed_split.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

result<void> validate(const split_fractions& fractions) {
  const auto [train, validation, test] = fractions;
  // The condition says what is right and not what is wrong, so that NaN, of
  // which every comparison is false, fails. A sum of decimal fractions may be
  // rounded to a little above 1.
  if (train > 0 && validation >= 0 && test >= 0
      && train + validation + test <= 1 + 1e-9)
    return ok();
  return fail(ec::invalid_argument,
              "the shares of training, validation and test are {}, {} and {}; "
              "the first must be above 0, none negative, and their sum at most "
              "1",
              train, validation, test);
}

std::array<std::vector<node_id>, 3>
keyed_split(std::int64_t count, const split_fractions& fractions,
            std::uint64_t seed) {
  const auto key = stream_key(seed, purpose::split, 0, 0);
  std::vector<std::pair<std::uint64_t, node_id>> order;
  order.reserve(static_cast<std::size_t>(count));
  for (node_id id = 0; id < count; ++id)
    order.emplace_back(mix64(key ^ mix64(static_cast<std::uint64_t>(id))), id);
  std::sort(order.begin(), order.end());

  std::array<std::vector<node_id>, 3> out;
  double fraction = 0;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < out.size(); ++s) {
    fraction += fractions[s];
    // The sum of the shares so far may be rounded to a little below what they
    // mean, and then lose a node; what is added here gives it back.
    const auto wanted = fraction * static_cast<double>(count) + 1e-6;
    const auto end =
      std::clamp(static_cast<std::size_t>(wanted), begin, order.size());
    for (auto i = begin; i < end; ++i)
      out[s].push_back(order[i].second);
    std::sort(out[s].begin(), out[s].end());
    begin = end;
  }
  return out;
}

} // namespace graphmill
