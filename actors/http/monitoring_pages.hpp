#pragma once

#include "actors/http/server/http_server.hpp"
#include "pipelines/figures/figures_board.hpp"

#include <map>
#include <memory>
#include <string>

namespace graphmill {

/// The pages /metrics, /healthz and /readyz, made of what actors leave on a
/// board.
/// @param of_cluster Of the coordinator: tell of the cluster, and whether it
/// takes runs. Else of the daemon alone.
/// @param counts Of the server that will have the pages.
std::map<std::string, http_page>
monitoring_pages(std::shared_ptr<const figures_board> board, bool of_cluster,
                 std::shared_ptr<const http_counts> counts);

/// Why a coordinator takes no runs, or a daemon does not belong to a cluster, a
/// sentence; empty if it does. Who has told nothing for longer than
/// `timeouts::figures_silence` is stuck. @param figures Null: none yet.
std::string unready(const cluster_figures* figures, unix_time now);
std::string unready(const daemon_figures* figures, unix_time now);

} // namespace graphmill
