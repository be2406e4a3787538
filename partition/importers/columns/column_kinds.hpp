#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <memory>

namespace graphmill {

/// Makes the transform of a request. Fails with all mistakes in it.
/// @param scaled_later Whether the importer scales the features again.
result<std::unique_ptr<column_transform>>
make_column_transform(const column_request& request, bool scaled_later);

} // namespace graphmill
