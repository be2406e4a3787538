#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/serving/reply_gauge.hpp"
#include "messages/wire/bulk.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace graphmill {

/// What a DATA SERVER needs.
struct data_server_config {
  std::string daemon; ///< Its name, for errors.
  /// The most bytes of answers, to all who ask together: being made, and
  /// waiting to be taken. Enough to keep a fast network busy. As many again of
  /// batches that are sampled for others.
  std::uint64_t reply_bytes = std::uint64_t{128} << 20;
  /// The most bytes of arrays of one answer.
  std::uint64_t message_bytes = max_bulk_bytes;
  std::shared_ptr<spdlog::logger> log = nullptr; ///< Null: none.
  /// Told of the memory of all answers; null: nobody wants to know.
  std::shared_ptr<reply_gauge> answers = nullptr;
};

/// Spawns the DATA SERVER of a daemon.
///
/// It decodes requests, asks the local services and encodes their answers; it
/// waits for no pipeline credit. Requests whose answers do not fit into its
/// bytes wait for their turn: those who ask take turns, and an answer larger
/// than all bytes is made alone. A request past its deadline is not begun, nor
/// does a service or sampler begin what is asked of it for one. One for a run
/// or part that is not served (yet) is answered `unavailable`.
data_server_actor spawn_data_server(caf::actor_system& system,
                                    data_server_config config);

} // namespace graphmill
