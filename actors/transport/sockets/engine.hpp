#pragma once

#include "actors/transport/sockets/calling_side.hpp"
#include "actors/transport/sockets/mailbox.hpp"
#include "actors/transport/sockets/serving_side.hpp"
#include "actors/transport/sockets/transport_context.hpp"

#include <zmq.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// What the transport's thread runs: takes commands from the mailbox, gives
/// both sides their turns, and waits in between. It alone uses the sockets.
class engine {
public:
  /// Binds. Called by the thread that starts the transport; everything else
  /// happens on the transport's.
  static result<std::unique_ptr<engine>>
  make(transport_options options, std::shared_ptr<mailbox> box,
       std::shared_ptr<traffic> counters, std::shared_ptr<link_board> links);

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Until it is told to stop.
  void run();

  peer_identity self() const {
    const auto& ours = context_.hello;
    return {ours.name, ours.incarnation, ours.address,
            {},        ours.cluster,     ours.generation};
  }

private:
  engine(transport_options options, std::shared_ptr<mailbox> box,
         std::shared_ptr<traffic> counters, std::shared_ptr<link_board> links);

  bool step();
  void wait();
  void tick();
  bool obey(std::vector<mailbox::command> commands);
  void admit(const mailbox::admit& request);
  void disturb(const link_fault& fault);
  void finish();

  transport_context context_;
  std::shared_ptr<mailbox> box_;
  serving_side serving_;
  std::optional<calling_side> calling_; ///< Always there once made.
  std::vector<zmq::pollitem_t> polls_;
};

} // namespace graphmill
