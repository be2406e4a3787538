#pragma once

#include <memory>

namespace graphmill {

struct submitted_run;

/// A run from its submission to its end.
using run_ptr = std::shared_ptr<submitted_run>;

} // namespace graphmill
