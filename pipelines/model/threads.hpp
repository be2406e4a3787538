#pragma once

namespace graphmill {

/// Keeps the BLAS, and libtorch where it is, on the thread that calls them: a
/// replica on the CPU brings `trainer.threads` threads of its own, with results
/// that do not depend on their number, and computes nothing with other ones.
/// Call it once per process, before the first step.
void keep_libraries_single_threaded();

} // namespace graphmill
