#pragma once

#include "actors/http/server/http_server.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "pipelines/figures/cluster_feed.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <cstddef>
#include <memory>

namespace graphmill {

/// Rows of an answer with history, and of a tick of a stream.
inline constexpr std::size_t most_history_rows = 20'000;
/// Of a list: as `graphmill runs` has it.
inline constexpr std::size_t most_listed_runs = 20;

/// Adds what a coordinator tells as JSON below /api/, live and of its last
/// hour: actors/monitoring.md describes it. Pages and streams belong to one
/// server's thread.
void add_api(http_server::options& to,
             const std::shared_ptr<const figures_board>& board,
             const std::shared_ptr<const cluster_feed>& feed,
             const std::shared_ptr<const log_ring>& logs);

/// Adds the web page, at / and below /page/.
void add_web_page(http_server::options& to);

} // namespace graphmill
