#pragma once

#include "pipelines/figures/figures_board.hpp"

namespace graphmill {

/// The figures of this process. Reads /proc: some system calls, and one for
/// each descriptor.
process_figures read_process_figures();

} // namespace graphmill
