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
};

/// For people: tables, then what is broken, or that nothing is.
/// @param partitioned The datasets are the parts of one.
std::string inspection_text(std::span<const inspected> parts, bool partitioned);

/// One line of JSON with everything, class by class.
std::string inspection_json(std::span<const inspected> parts, bool partitioned);

} // namespace graphmill
