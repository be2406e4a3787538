#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_roles.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <array>
#include <string>

namespace graphmill {

/// The node types at the ends of an edge list, which joins two of them; both
/// empty if it joins nodes of one type.
std::array<std::string, 2> two_end_types(const csv_table& table);

/// Gives ends that are missing to columns that are called like their node
/// types, if each is called so by one column alone.
void add_ends_by_type(column_roles& roles, const csv_table& table,
                      const csv_layout& layout);

/// What is left over becomes the ends that are missing, if it must be those:
/// the source is the first column, but not of a list between two types whose
/// columns have names. Fails if ends are missing still, or columns left over.
/// @param rows For errors.
result<void> add_ends(column_roles& roles, const csv_table& table,
                      const csv_layout& layout, const csv_reader& rows);

} // namespace graphmill
