#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/graph_changes.hpp"
#include "partition/importers/time_text.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// The times of nodes or edges in ticks. A number means what `time_text_reader`
/// takes it for where it stands in a table. Fails also on floats so large that
/// whole numbers beside them are missing: they may have been rounded.
/// @param on_note Is told what the times were taken for.
result<std::vector<std::int64_t>>
read_npy_times(const npy_array& array, time_unit unit,
               const note_callback& on_note = {});

} // namespace graphmill
