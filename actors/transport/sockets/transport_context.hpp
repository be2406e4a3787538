#pragma once

#include "actors/transport/sockets/awake_clock.hpp"
#include "actors/transport/sockets/complaint_log.hpp"
#include "actors/transport/sockets/descriptors.hpp"
#include "actors/transport/sockets/link_board.hpp"
#include "actors/transport/sockets/message_faults.hpp"
#include "actors/transport/sockets/transport_options.hpp"

#include <zmq.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace graphmill {

/// What both sides of the transport share on its thread: settings, keys, clock,
/// counters and faults, and the callbacks of the transport's user.
class transport_context {
public:
  /// Callbacks and log lines of others' doing; all else is fixed but for the
  /// address in `hello`, known once the port is bound, and the keys.
  transport_context(transport_options how, std::shared_ptr<traffic> counted,
                    std::shared_ptr<link_board> board);

  transport_options options; ///< With a seed.
  std::shared_ptr<traffic> counters;
  std::shared_ptr<link_board> links;
  hello_message hello;                    ///< Ours.
  std::shared_ptr<const key_table> table; ///< Null without keys.
  std::filesystem::path local_folder;     ///< Of local sockets.
  descriptor_quota quota;
  message_faults faults;
  zmq::context_t sockets;

  session_time now() { return clock_.look(std::chrono::steady_clock::now()); }
  /// When a clock that does not stand still shows this time.
  session_time real(session_time time) const { return clock_.real(time); }

  void tell(const peer_event& news);
  void tell(const access_refusal& news);
  void tell(const error& failure); ///< Of the transport as a whole.
  void log(const std::string& sentence);
  /// Logs what others have done, who must not fill the log.
  void complain(const std::string& sentence) {
    complaints_.add(sentence, now());
  }
  /// Says what complaints were held back, if it is time.
  void look_at_complaints() { complaints_.look(now()); }

  /// A callback that throws costs nobody else anything.
  /// @param what It is about: a literal.
  void guarded(const char* what, const std::function<void()>& call);

  /// Takes what one peer has sent. What that throws costs this peer its
  /// connection and nobody else anything, but for an error of the sockets, on
  /// which there is no relying any more.
  /// @returns why it could not be taken.
  template <class Take>
  std::optional<error> taken(Take&& take) {
    try {
      take();
      return std::nullopt;
    } catch (const zmq::error_t&) {
      throw;
    } catch (...) {
      return not_taken();
    }
  }

  /// What the thread is at outside of callbacks.
  static constexpr auto moving_messages = "moving messages";

private:
  error not_taken();

  awake_clock clock_;
  complaint_log complaints_{[this](const auto& line) { log(line); }};
};

} // namespace graphmill
