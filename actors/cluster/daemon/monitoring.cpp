#include "actors/cluster/daemon/monitoring.hpp"

#include "actors/http/api/api_pages.hpp"
#include "actors/http/monitoring_pages.hpp"
#include "actors/http/server/http_gate.hpp"
#include "actors/transport/sockets/descriptors.hpp"
#include "messages/base/error_list.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

result<monitoring> monitoring::prepare(const monitoring_options& options,
                                       bool leads) {
  monitoring out;
  if (leads) // `graphmill events` asks for them, too.
    out.feed_ = std::make_shared<cluster_feed>();
  if (leads && options.http != "none")
    out.places_.push_back({options.http, true});
  else if (options.http != "none" && options.http != monitoring_options::usual)
    out.left_out_ = options.http;
  if (!options.metrics.empty())
    out.places_.push_back({options.metrics, false});
  error_list wrong;
  for (const auto& [file, into] :
       {std::pair{&options.token_file, &out.token_},
        std::pair{&options.action_token_file, &out.action_token_}})
    if (!file->empty())
      *into = wrong.take(read_http_token(*file)).value_or("");
  for (const auto& place : out.places_)
    wrong.take(check_http_address(place.listen, !options.token_file.empty()));
  GRAPHMILL_TRYV(wrong.ended());
  if (!out.places_.empty())
    out.board_ = std::make_shared<metrics_board>();
  return out;
}

void monitoring::start(const std::shared_ptr<spdlog::logger>& log,
                       const std::shared_ptr<const log_ring>& lines,
                       const coordinator_port& port) {
  if (!left_out_.empty())
    log->warn("--http {} is ignored: it is for coordinators, and this daemon "
              "joins one; --metrics ADDRESS serves this daemon's own metrics",
              left_out_);
  for (const auto& place : places_) {
    http_server::options with;
    with.listen = place.listen;
    with.token = token_;
    // Of the descriptors that the transport leaves to others.
    with.most.connections = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(descriptor_limit() / 32, 8, 64));
    with.most.streams =
      std::clamp<std::size_t>(with.most.connections / 3, 2, 20);
    with.pages = monitoring_pages(board_, place.of_cluster, with.counts);
    if (place.of_cluster) {
      add_api(with, board_, feed_, lines);
      add_web_page(with);
      with.action_token = action_token_;
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
      servers_.push_back(std::move(server).value());
      continue;
    }
    // Nobody asked for the usual one, which another cluster here may have.
    const auto usual = place.listen == monitoring_options::usual;
    log->log(usual ? spdlog::level::info : spdlog::level::warn,
             "{}; it goes on without{}", server.error().message,
             usual ? " (--http has another address, or none)" : "");
  }
}

} // namespace graphmill
