#pragma once

#include "actors/cluster/daemon/monitoring.hpp"

#include <filesystem>
#include <string>

namespace graphmill {

/// How a daemon lets itself be watched over HTTP.
struct http_options {
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

/// Reads the tokens, and checks the addresses. The servers are started, and
/// logged, by `monitoring::start`.
result<monitoring> http_monitoring(const http_options& options, bool leads);

} // namespace graphmill
