#pragma once

#include "actors/http/api/cluster_feed.hpp"
#include "actors/http/api/coordinator_calls.hpp"
#include "actors/http/metrics/metrics_board.hpp"
#include "actors/http/server/http_server.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// How a daemon lets itself be watched over HTTP.
struct monitoring_options {
  static constexpr const char* usual = "127.0.0.1:7880";

  /// Of a coordinator: where it tells of its cluster; "none": nowhere. Of other
  /// daemons it means nothing, as their log says.
  std::string http = usual;
  /// Where the daemon tells of itself; empty: nowhere.
  std::string metrics{};
  /// File with the token that requests must show; empty: none.
  std::filesystem::path token_file{};
  /// File with the token of those who change something; empty: nobody may.
  std::filesystem::path action_token_file{};
};

/// The HTTP servers of a daemon. Owned by its main thread.
class monitoring {
public:
  /// Reads the tokens, and checks the addresses. Fails if what is asked for is
  /// not allowed; nothing is bound yet.
  static result<monitoring> prepare(const monitoring_options& options,
                                    bool leads);

  /// Where actors leave their figures; null if nobody could see them.
  const std::shared_ptr<metrics_board>& board() const { return board_; }

  /// Where a coordinator leaves what becomes of them, for clients and over
  /// HTTP; null of any other daemon.
  const std::shared_ptr<cluster_feed>& feed() const { return feed_; }

  /// Starts the servers, and says where they are. One that cannot be started is
  /// a line of the log: a cluster works without.
  /// @param lines Of all logs of the cluster, which a coordinator shows.
  /// @param port To the coordinator, if it is here.
  void start(const std::shared_ptr<spdlog::logger>& log,
             const std::shared_ptr<const log_ring>& lines,
             const coordinator_port& port);

private:
  monitoring() = default;

  struct place {
    std::string listen;
    bool of_cluster = false;
  };
  std::string left_out_; ///< Address for a coordinator, which it is not.
  std::string token_;
  std::string action_token_;
  std::vector<place> places_;
  std::shared_ptr<metrics_board> board_;
  std::shared_ptr<cluster_feed> feed_;
  std::vector<std::unique_ptr<http_server>> servers_;
};

} // namespace graphmill
