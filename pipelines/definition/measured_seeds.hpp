#pragma once

#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// Seeds of a step whose ids are told: they must fit into a message.
inline constexpr std::uint32_t most_told_seeds = 65536;

/// The split that a run measures alone; nothing for `none`.
std::optional<split> split_of(measured_split which);

/// Its name for users: "train", "validation", "test"; "none".
std::string_view to_string(measured_split which);

/// What a run does that trains nothing, as in "evaluate test"; empty for
/// others.
std::string work_without_training(const definition& def);

/// The split of that name; nothing for "none", and whatever is no name.
std::optional<measured_split> measured_split_named(std::string_view name);

/// Seeds of the largest split that a run measures: the one that it measures
/// alone, or those of validation and test.
/// @param target As the label set shows it that the definition chooses.
std::uint64_t most_measured_seeds(const definition& def,
                                  const node_type_info& target);

} // namespace graphmill
