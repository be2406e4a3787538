#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace graphmill {

/// A kind of transform: what `as` says in a columns file.
struct column_kind {
  std::string_view name;
  std::unique_ptr<column_transform> (*make)(column_options& options,
                                            bool scaled_later);
};

/// All kinds. Whoever adds one adds its class and a row here.
std::span<const column_kind> column_kinds();

/// Makes the transform of a request. Fails with all mistakes in it.
/// @param scaled_later Whether the importer scales the features again.
result<std::unique_ptr<column_transform>>
make_column_transform(const column_request& request, bool scaled_later);

} // namespace graphmill
