#pragma once

#include "partition/importers/csv/csv.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A name without the spaces around it, in lower case.
std::string lower_name(std::string_view text);

/// The role that a column of an edge list has by its name, if it is a usual
/// one: source, destination, relation or weight.
std::optional<csv_role> edge_role_of(std::string_view name);

/// The same of a node table: id, label or split, or those of a label set:
/// "label.<set>" and "split.<set>".
std::optional<csv_role> node_role_of(std::string_view name);

/// The name of the label set that a column belongs to: what is behind "label."
/// or "split.", else the column's own.
std::string label_set_name(std::string_view column);

/// What a column of a node table looks like, though it has no usual name, so
/// that it had better not become a feature in silence: label or split.
std::optional<csv_role> suspected_role_of(std::string_view name);

/// Whether the first row of an edge list is a header, going by it and the row
/// behind it: it is one if it has usual names for both ends; if the first two
/// fields are no numbers, or have no digits, and both below them are or have;
/// if both end with "id"; or if behind them a text stands above a number.
bool looks_like_header(const std::vector<std::string>& first,
                       const std::vector<std::string>& second);

/// Whether both ends of a row could be nothing but ids.
bool looks_like_edge(const std::vector<std::string>& row);

/// The name of an edge type for a value of a relation column: characters that
/// such a name cannot have are replaced. Empty if nothing is left of it, or it
/// is too long.
std::string relation_name(std::string_view value);

} // namespace graphmill
