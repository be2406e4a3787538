#pragma once

#include "messages/definition/definition.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A place in a run, by what is behind it.
struct run_point {
  std::int32_t epoch = 0; ///< Epochs.
  std::int64_t step = 0;  ///< Steps of the next one.

  friend auto operator<=>(const run_point&, const run_point&) = default;
};

/// From a point on, a run has that many trainers.
struct size_change {
  run_point at;
  std::uint32_t replicas = 1;

  friend bool operator==(const size_change&, const size_change&) = default;
};

/// "3/17:1": after 3 epochs and 17 steps, one trainer. Nothing for other texts,
/// and for numbers that no run has.
std::optional<size_change> parse_size_change(std::string_view text);
std::string to_string(const size_change& change);

/// "0/0:2, 3/17:1".
std::string sizes_text(const std::vector<size_change>& sizes);

/// A list of {"epoch", "step", "replicas"}.
nlohmann::json sizes_json(const std::vector<size_change>& sizes);
/// Nothing if it is no such list, with ascending points.
std::optional<std::vector<size_change>> sizes_in(const nlohmann::json& list);

/// What `trainer.sizes` says. @pre the definition was checked
std::vector<size_change> sizes_of(const definition& def);

/// How many trainers a run has from a point on by `trainer.sizes`; nothing
/// without that.
std::optional<std::uint32_t> size_at(const definition& def,
                                     const run_point& at);

/// Where their number changes next, behind a point, by `trainer.sizes`.
std::optional<run_point> next_change(const definition& def,
                                     const run_point& at);

/// The definition with so many trainers, for an attempt at a run: no other
/// number, and no changes. One that is not elastic stays what it is.
definition sized(definition def, std::uint32_t replicas);

/// Notes that a run has so many trainers from a point on. What it had noted of
/// that point and of later ones is forgotten: it has gone back.
void note_size(std::vector<size_change>& sizes, const size_change& now);

/// How many parts of steps the trainers of an epoch have had, each one in each
/// step, before the given step. @param sizes At least one.
std::int64_t parts_until(const std::vector<size_change>& sizes,
                         const run_point& at);

} // namespace graphmill
