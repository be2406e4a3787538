#pragma once

#include "actors/cluster/daemon/shares/agent_config.hpp"
#include "actors/feed/feed_frames.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

class request_router;

/// What a consumer's daemon is made of.
struct feed_node_config {
  feed_cluster cluster;
  std::filesystem::path data; ///< The folder of the dataset.
  bool verify = true;
  feed_hooks hooks;
  std::function<void()> on_joined;
  /// It is not let in, or was told to leave.
  std::function<void(const error&)> on_refused;
};

/// The daemon of a consumer: serves no parts and takes no trainers. It joins a
/// cluster until it ends, and takes batches of feeds there.
class feed_node {
public:
  /// Binds its address and reads its key. Fails if either cannot be done, or
  /// there is no such dataset. Nothing begins before `start`.
  static result<std::unique_ptr<feed_node>> make(feed_node_config config);

  ~feed_node();
  feed_node(const feed_node&) = delete;
  feed_node& operator=(const feed_node&) = delete;

  /// Joins. Called once.
  void start(caf::actor_system& system);

  /// Leaves the cluster, where the coordinator then ends the feed: waits a
  /// moment for that.
  void leave();

  /// Ends the actors.
  void stop();

  const std::vector<std::string>& coordinators() const { return coordinators_; }
  const std::shared_ptr<transport>& net() const { return net_; }

private:
  explicit feed_node(feed_node_config config) : config_(std::move(config)) {}
  result<void> prepare();
  agent_config agent_of(data_server_actor data) const;

  feed_node_config config_;
  std::vector<std::string> coordinators_;
  std::shared_ptr<const partitioned_graph> graph_;
  std::shared_ptr<spdlog::logger> log_;
  std::optional<key_table> admitted_;
  std::shared_ptr<rank_inboxes> inboxes_;
  std::shared_ptr<peer_flows> flows_;
  std::shared_ptr<request_router> router_;
  std::shared_ptr<transport> net_;
  std::shared_ptr<data_guard> guard_;
  data_server_actor data_;
  agent_actor agent_;
};

} // namespace graphmill
