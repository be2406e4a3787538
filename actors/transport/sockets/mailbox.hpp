#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "actors/transport/sockets/message_faults.hpp"
#include "messages/wire/frame.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace graphmill {

/// What other threads ask of the transport's thread. Thread-safe. Waking costs
/// one system call per batch of commands.
class mailbox {
public:
  struct request {
    std::string address;
    graphmill::method method;
    payload data;
    call_options options;
    std::function<void(result<payload>)> on_reply;
  };
  struct keep {
    std::string address;
    bool on; ///< Else: forget.
  };
  struct answer {
    std::uint64_t token;
    result<payload> data;
  };
  struct admit {
    std::shared_ptr<const key_table> table;
  };
  struct disturb {
    link_fault fault;
  };
  struct stop {};
  using command = std::variant<request, keep, answer, admit, disturb, stop>;

  mailbox();
  ~mailbox();
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// @returns the command if nobody will take it: the transport has ended.
  std::optional<command> post(command posted);

  /// Takes what was posted.
  std::vector<command> take();

  /// Takes what was posted, and nothing more will be.
  std::vector<command> close();

  /// Readable while there is something to take; negative if the system gave
  /// none.
  int descriptor() const { return wake_; }

private:
  std::mutex mutex_;
  std::vector<command> waiting_;
  bool closed_ = false;
  int wake_ = -1;
};

} // namespace graphmill
