#include "actors/http/http_monitoring.hpp"

#include "actors/http/api/api_pages.hpp"
#include "actors/http/api/coordinator_calls.hpp"
#include "actors/http/monitoring_pages.hpp"
#include "actors/http/server/http_gate.hpp"
#include "actors/http/server/http_server.hpp"
#include "actors/transport/sockets/descriptors.hpp"
#include "messages/base/error_list.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

struct http_listening {
  std::string listen;
  bool of_cluster = false;
};

/// The HTTP servers of a daemon, and what they need.
struct daemon_servers {
  std::string left_out{}; ///< Address for a coordinator, which it is not.
  std::string token{};
  std::string action_token{};
  std::vector<http_listening> places{};
  std::shared_ptr<figures_board> board{};
  std::shared_ptr<cluster_feed> feed{};
  std::vector<std::unique_ptr<http_server>> running{};
};

void start_servers(daemon_servers& of,
                   const std::shared_ptr<spdlog::logger>& log,
                   const std::shared_ptr<const log_ring>& lines,
                   const coordinator_port& port) {
  if (!of.left_out.empty())
    log->warn("--http {} is ignored: it is for coordinators, and this daemon "
              "joins one; --metrics ADDRESS serves this daemon's own metrics",
              of.left_out);
  for (const auto& place : of.places) {
    http_server::options with;
    with.listen = place.listen;
    with.token = of.token;
    // Of the descriptors that the transport leaves to others.
    with.most.connections = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(descriptor_limit() / 32, 8, 64));
    with.most.streams =
      std::clamp<std::size_t>(with.most.connections / 3, 2, 20);
    with.pages = monitoring_pages(of.board, place.of_cluster, with.counts);
    if (place.of_cluster) {
      add_api(with, of.board, of.feed, lines);
      add_web_page(with);
      with.action_token = of.action_token;
      add_coordinator_calls(with, port);
    }
    with.on_trouble = [log](const std::string& why) {
      log->warn("HTTP: all connections are closed: {}", why);
    };
    auto server = http_server::start(std::move(with));
    if (server) {
      const auto& at = server.value()->address();
      if (place.of_cluster)
        log->info("web page at http://{0}/, metrics at http://{0}/metrics", at);
      else
        log->info("metrics of this daemon at http://{}/metrics", at);
      of.running.push_back(std::move(server).value());
      continue;
    }
    // Nobody asked for the usual one, which another cluster here may have.
    const auto usual = place.listen == http_options::usual;
    log->log(usual ? spdlog::level::info : spdlog::level::warn,
             "{}; it goes on without{}", server.error().message,
             usual ? " (--http has another address, or none)" : "");
  }
}

} // namespace

result<monitoring> http_monitoring(const http_options& options, bool leads) {
  const auto servers = std::make_shared<daemon_servers>();
  auto& places = servers->places;
  if (leads && options.http != "none")
    places.push_back({options.http, true});
  else if (options.http != "none" && options.http != http_options::usual)
    servers->left_out = options.http;
  if (!options.metrics.empty())
    places.push_back({options.metrics, false});
  error_list wrong;
  for (const auto& [file, into] :
       {std::pair{&options.token_file, &servers->token},
        std::pair{&options.action_token_file, &servers->action_token}})
    if (!file->empty())
      *into = wrong.take(read_http_token(*file)).value_or("");
  for (const auto& place : places)
    wrong.take(check_http_address(place.listen, !options.token_file.empty()));
  GRAPHMILL_TRYV(wrong.ended());
  if (!places.empty())
    servers->board = std::make_shared<figures_board>();
  if (leads) // `graphmill events` asks for them, too.
    servers->feed = std::make_shared<cluster_feed>();
  return monitoring{
    servers->board, servers->feed,
    [servers](const auto& log, const auto& lines, const auto& port) {
      start_servers(*servers, log, lines, port);
    }};
}

} // namespace graphmill
