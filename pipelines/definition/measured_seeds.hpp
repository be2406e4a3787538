#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// The largest number of seeds of a step whose ids are reported: they must fit
/// into a message.
inline constexpr std::uint32_t most_told_seeds = 65536;

/// The split of a run that only evaluates; nothing for `none`.
std::optional<split> split_of(measured_split which);

/// Its name for users: "train", "validation", "test"; "none".
std::string_view to_string(measured_split which);

/// The work of a run that trains nothing, as in "evaluate test"; empty for
/// others.
std::string work_without_training(const definition& def);

/// The split with that name; nothing for "none" and unknown names.
std::optional<measured_split> measured_split_named(std::string_view name);

/// Seeds of the largest split that a run measures: its only one, or those of
/// validation and test.
/// @param target With the definition's label set.
std::uint64_t most_measured_seeds(const definition& def,
                                  const node_type_info& target);

} // namespace graphmill
