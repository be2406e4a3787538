#pragma once

namespace graphmill {

/// For errors about a dataset that a cluster does not serve.
inline constexpr const char* how_to_serve_another =
  "daemons serve the dataset of their --data for as long as they run: end the "
  "cluster by `graphmill stop --all` and start its daemons with --data of the "
  "other one and the same --runs, or start a second cluster beside it "
  "(--listen, --runs, --http)";

} // namespace graphmill
