#pragma once

#include "messages/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Numbers that a random search draws from, both ends included.
struct sweep_range {
  double low = 0;
  double high = 0;
  bool logarithmic = false; ///< Even in the logarithm.
  bool whole = false;       ///< Whole numbers alone.
};

/// A field of a definition with the values that a sweep gives it.
struct sweep_axis {
  std::string field;
  std::vector<std::string> values;       ///< Without a range, in turn.
  std::optional<sweep_range> range = {}; ///< For a random search.
};

/// What a sweep gives fields in one of its runs, as overrides ("field=value").
using sweep_settings = std::vector<std::string>;

/// Reads what --grid was given: "model.hidden=64,256", or a range as in
/// "model.dropout=0.1..0.6" or "optimizer.learning_rate=log:1e-4..1e-1". A
/// comma within brackets or braces belongs to a value, as in
/// "sampler.fanouts=[5,5],[10,10]". Fails if there is no field, no value, an
/// empty one or one that comes twice, or a range without numbers in it.
result<sweep_axis> parse_sweep_axis(const std::string& text);

/// Every combination of a value of each axis, in the order of the axes; the
/// last one changes first. Without axes, one that changes nothing. Fails if a
/// field comes twice or has a range, or if there are more than `most`.
result<std::vector<sweep_settings>>
sweep_combinations(std::span<const sweep_axis> axes, std::size_t most);

/// So many combinations, all different, drawn at random: each value of a list
/// is as likely as the others. The same for the same seed. Fails if a field
/// comes twice, or if there are not so many.
result<std::vector<sweep_settings>>
random_combinations(std::span<const sweep_axis> axes, std::size_t count,
                    std::uint64_t seed);

/// Adds to a run's name, as "-hidden64-kind_gcn". Fields have their last word,
/// or their whole path where two have the same.
std::string name_of_settings(std::span<const std::string> settings);

} // namespace graphmill
