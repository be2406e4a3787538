#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Whether a text is the id of a node; may be empty.
using node_test = std::function<bool(std::string_view)>;

/// What is known of an edge list beside its rows.
struct header_hints {
  /// Names of columns that the user gave.
  std::vector<std::string> chosen;
  /// The node types at its ends; empty where both are of one type.
  std::string source_type;
  std::string destination_type;
  /// Whether the node tables of its ends have such an id; empty: there are no
  /// such tables.
  node_test is_node;
};

enum class first_row : std::uint8_t { header, edge, unclear };

/// Whether a first row can be nothing but a header: a text stands above numbers
/// in one of its columns.
/// @param rows As below.
bool is_above_numbers(const std::vector<std::vector<std::string>>& rows);

/// What the first row of an edge list is, as far as that is certain. It is a
/// header if it has a name that the user gave; usual names of both ends, names
/// like "user_id" or those of the node types; if it is no node, and the rows
/// below it are; or if texts stand above numbers. It is an edge if one of its
/// ends is a number, a node, or an end of another row.
/// @param rows The first rows, at least one, without blanks around fields.
first_row guess_first_row(const std::vector<std::vector<std::string>>& rows,
                          const header_hints& hints);

} // namespace graphmill
