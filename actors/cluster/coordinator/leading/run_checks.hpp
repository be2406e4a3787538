#pragma once

#include "messages/base/error.hpp"

#include <string>

// Whether a cluster can carry out what a client has submitted, or another
// coordinator has left.

namespace graphmill {

struct coordinator_config;
struct definition;
struct submitted_run;

/// Whether the cluster takes a definition. Its client may have checked nothing.
result<void> check_taken(const definition& def, const coordinator_config& here);

/// Whether the dataset has what the run needs, as the run sees it.
result<void> check_view(const submitted_run& run);

/// Whether a run was trained on the dataset of this cluster.
/// @param digest Of the dataset that it was trained on.
result<void> check_dataset(const coordinator_config& here,
                           const std::string& digest);

} // namespace graphmill
