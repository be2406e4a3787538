#pragma once

#include "messages/wire/run.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/course.hpp"

namespace graphmill {

/// Where a run stands, as it travels between daemons.
/// @param so_far Of the steps of the epoch that is on.
run_position wire_form(const course_position& at, const batch_metrics& so_far);

/// The two that a position is made of.
course_position position_in(const run_position& from);
batch_metrics sums_in(const run_position& from);

} // namespace graphmill
