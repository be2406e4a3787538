#pragma once

#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/meaning/original_names.hpp"

#include <span>
#include <string>

namespace graphmill {

/// A dataset, or a part of one, and what was found in it.
struct inspected {
  const dataset& data;
  inspection found;
  original_names names = {}; ///< Of the whole dataset.
  /// The dataset that lists `tasks`. Null: `data` does. A part lists none.
  const dataset_info* whole = nullptr;

  const dataset_info& with_tasks() const {
    return whole != nullptr ? *whole : data.info();
  }
};

/// For people: tables, then what is broken, or that nothing is. Tasks of a
/// partitioned dataset stand with the first part, and are told of the whole.
/// @param partitioned The datasets are the parts of one.
std::string inspection_text(std::span<const inspected> parts, bool partitioned);

/// One line of JSON with everything, class by class.
std::string inspection_json(std::span<const inspected> parts, bool partitioned);

} // namespace graphmill
