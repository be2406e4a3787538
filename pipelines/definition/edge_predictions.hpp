#pragma once

#include "messages/definition/definition.hpp"

#include <cstdint>

namespace graphmill {

/// The width of a node's output in a task of edges: what decoders take.
inline std::int64_t output_width(const definition& def) {
  return def.model.width != 0 ? def.model.width : def.model.hidden;
}

/// Whether a run that predicts gives the outputs of all nodes at the ends of
/// its task's edges. Others predict all nodes of the target type or, of a task
/// of edges, the rows of the split `evaluate.only`.
inline bool predicts_outputs(const definition& def) {
  return def.evaluate.predict && !def.task.empty()
         && def.evaluate.only == measured_split::none;
}

/// How many values a run that predicts tells of each row: logits, or the
/// outputs of both ends.
/// @param classes Of the target.
inline std::int64_t told_columns(const definition& def, std::int64_t classes) {
  return predicts_outputs(def) ? 2 * output_width(def) : classes;
}

} // namespace graphmill
