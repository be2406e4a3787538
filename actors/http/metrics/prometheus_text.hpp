#pragma once

#include "actors/http/server/http_server.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <string>

namespace graphmill {

/// Figures as Prometheus reads them (text format 0.0.4). What is not known is
/// left out: numbers of a run while none is on, shares of actors of a daemon
/// that has told nothing. actors/monitoring.md describes each name. Pure.
///
/// @param cluster Null: only of the daemon.
/// @param own Of the daemon that answers; null: not known yet. Its share of a
/// run is told where `cluster` does not have it.
std::string prometheus_text(const cluster_figures* cluster,
                            const daemon_figures* own,
                            const http_counts& served);

} // namespace graphmill
