#include "pipelines/gradients/devices/device_collective.hpp"
#include "tests/pipelines/gradients/memory_carrier.hpp"
#include "tests/pipelines/gradients/memory_ranks.hpp"

namespace graphmill::test {

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  // Ranks of a group meet on one board.
  static std::mutex mutex;
  static std::map<std::pair<std::shared_ptr<rendezvous_store>, std::string>,
                  std::shared_ptr<carrier_board>>
    boards;
  return [store, orphans](auto roll, const std::string& fingerprint) {
    const auto rank = roll->options().rank;
    carrier_factory factory;
    factory.device.back() = static_cast<std::byte>(rank + 1);
    factory.grace = roll->options().grace;
    factory.connect =
      [rank, key = std::pair{store, roll->key("")}](
        const std::atomic<bool>&) -> result<std::unique_ptr<bulk_carrier>> {
      std::lock_guard lock{mutex};
      auto& board = boards[key];
      if (!board)
        board = std::make_shared<carrier_board>();
      return std::make_unique<memory_carrier>(board, rank);
    };
    return join_by_devices(memory_connector(store, orphans)(roll, fingerprint),
                           std::move(factory), orphans);
  };
}

} // namespace graphmill::test
