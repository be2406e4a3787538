#pragma once

#include "partition/importers/csv/csv.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A name without the spaces around it, in lower case.
std::string lower_name(std::string_view text);

/// What some programs write before the first byte of a table.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Whether a field is the name of a column again: without the blanks around it
/// and a byte order mark before it, and whatever letters are capital ones.
bool repeats_name(std::string_view field, std::string_view name);

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
/// that it had better not become a feature in silence: label, split or a mask.
std::optional<csv_role> suspected_role_of(std::string_view name);

/// Whether a name ends with the word "id": "user_id" and "userId" do, "madrid"
/// does not.
bool is_name_of_ids(std::string_view name);

/// Whether a word of a name is one for a time, as in "paid_at" or "ts".
bool is_name_of_times(std::string_view name);

/// Whether a column is called like a node type, whose ids it has then: "user",
/// "user_id", "userId", "userid" and "from_user" are called like "user" or
/// "users".
bool names_type(std::string_view column, std::string_view type);

/// Whether both ends of a row could be nothing but ids.
bool looks_like_edge(const std::vector<std::string>& row);

} // namespace graphmill
