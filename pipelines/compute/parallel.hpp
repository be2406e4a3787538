#pragma once

#include <algorithm>
#include <cstdint>

namespace graphmill {

/// Calls `f(piece, begin, end)` for the pieces of `grain` rows that make up
/// [0, rows), on up to `threads` threads. Pieces do not depend on the number of
/// threads, so neither does what is computed per piece. `f` must not throw.
template <class F>
void parallel_pieces(unsigned threads, std::int64_t rows, std::int64_t grain,
                     const F& f) {
  const auto pieces = (rows + grain - 1) / grain;
  if (threads <= 1 || pieces <= 1) {
    for (std::int64_t p = 0; p < pieces; ++p)
      f(p, p * grain, std::min(rows, (p + 1) * grain));
    return;
  }
  // Pieces differ in work (hubs), so each thread takes the next one.
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t p = 0; p < pieces; ++p)
    f(p, p * grain, std::min(rows, (p + 1) * grain));
}

} // namespace graphmill
