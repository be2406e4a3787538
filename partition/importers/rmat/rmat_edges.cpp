#include "partition/importers/rmat/rmat_edges.hpp"

#include "messages/base/random.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Streams of `purpose::generate`, told apart by the epoch of their key.
constexpr std::uint64_t edge_stream = 0;
constexpr std::uint64_t scramble_stream = 1;

std::uint32_t bound_of_fraction(double fraction) {
  return static_cast<std::uint32_t>(std::clamp(fraction, 0.0, 1.0)
                                    * 4294967295.0);
}

} // namespace

id_scrambler::id_scrambler(int bits, std::uint64_t key)
  : mask_((std::uint64_t{1} << bits) - 1), shift_(std::max(1, bits / 2)) {
  random_stream draws{key, 0};
  for (auto& round : rounds_) {
    const std::uint64_t high = draws.next();
    round.factor = (high << 32 | draws.next()) | 1;
    round.offset = draws.next();
  }
}

rmat_edges::rmat_edges(const rmat_options& options)
  : scale_(options.scale),
    key_(stream_key(options.seed, purpose::generate, edge_stream, 0)),
    bounds_{bound_of_fraction(options.a),
            bound_of_fraction(options.a + options.b),
            bound_of_fraction(options.a + options.b + options.c)},
    scramble_(options.scale,
              stream_key(options.seed, purpose::generate, scramble_stream, 0)) {
}

std::pair<node_id, node_id> rmat_edges::operator()(std::int64_t e) const {
  // With the usual parameters a second attempt is rare; the bound is for
  // parameters that put nearly everything on the diagonal.
  constexpr std::uint32_t attempts = 64;
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    random_stream draws{key_, static_cast<std::uint64_t>(e), attempt};
    source = 0;
    destination = 0;
    for (int level = 0; level < scale_; ++level) {
      const auto draw = draws.next();
      const std::uint64_t low_low = draw < bounds_[0];
      const std::uint64_t low = draw < bounds_[1];
      const std::uint64_t high_low = (draw < bounds_[2]) & (low ^ 1);
      source = source << 1 | (low ^ 1);
      destination = destination << 1 | ((low_low | high_low) ^ 1);
    }
    if (source != destination)
      break;
  }
  if (source == destination)
    destination ^= 1;
  return {static_cast<node_id>(scramble_(source)),
          static_cast<node_id>(scramble_(destination))};
}

} // namespace graphmill
