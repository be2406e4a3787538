#pragma once

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sessions/arrivals.hpp"
#include "actors/transport/sessions/caller_session.hpp"
#include "actors/transport/sessions/server_session.hpp"
#include "actors/transport/sockets/awake_clock.hpp"
#include "actors/transport/sockets/complaint_log.hpp"
#include "actors/transport/sockets/connections/authenticator.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "actors/transport/sockets/connections/local_socket.hpp"
#include "actors/transport/sockets/connections/outbox.hpp"
#include "actors/transport/sockets/connections/peer_link.hpp"
#include "actors/transport/sockets/connections/port_probe.hpp"
#include "actors/transport/sockets/connections/unfinished.hpp"
#include "actors/transport/sockets/descriptors.hpp"
#include "actors/transport/sockets/held_messages.hpp"
#include "actors/transport/sockets/link_board.hpp"
#include "actors/transport/sockets/mailbox.hpp"
#include "actors/transport/sockets/transport_options.hpp"

#include <zmq.hpp>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace graphmill {

/// What the transport's thread runs: it moves messages between sockets and
/// sessions, and does what the sessions ask for. It alone uses the sockets. How
/// it starts is in engine_start.cpp, how it calls others in engine_calls.cpp,
/// how it serves them in engine_port.cpp, and what it does wrong on purpose in
/// engine_chaos.cpp.
class engine {
public:
  /// Binds. Called by the thread that starts the transport; everything else
  /// happens on the transport's.
  static result<std::unique_ptr<engine>>
  make(transport_options options, std::shared_ptr<mailbox> box,
       std::shared_ptr<traffic> counters, std::shared_ptr<link_board> links);

  /// When nobody is within `run`.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Until it is told to stop.
  void run();

  peer_identity self() const {
    return {hello_.name, hello_.incarnation, hello_.address,
            {},          hello_.cluster,     hello_.generation};
  }

private:
  struct caller {
    caller_session session;
    endpoint where;
    std::unique_ptr<peer_link> link; ///< While the session wants one.
    /// `where` as a numeric address, which a probe needs. It is known once a
    /// first message has come over a link; until then it is `where` itself.
    endpoint seen_at;
    bool seen = false;               ///< Whether this link has set `seen_at`.
    bool here = false;               ///< This link leads to our own machine.
    caller_session::counts reported; ///< What `counters_` has of it already.
    /// What `links_` has of it; nothing yet.
    std::optional<link_state> told = std::nullopt;
    std::unique_ptr<port_probe> probe; ///< Finds out why the link broke.
  };

  engine(transport_options options, std::shared_ptr<mailbox> box,
         std::shared_ptr<traffic> counters, std::shared_ptr<link_board> links);
  void bind(const endpoint& listens);
  result<void> bind_locally();
  /// On its own thread alone.
  session_time now() { return clock_.look(std::chrono::steady_clock::now()); }

  bool step();
  void wait();
  bool obey(std::vector<mailbox::command> commands);
  void tick();
  void finish();
  void tell(const peer_event& news);
  void tell(const access_refusal& news);
  void log(const std::string& sentence);
  void complain(const std::string& sentence);
  void end_badly(const std::string& reason);
  void guarded(const char* what, const std::function<void()>& call);
  error not_taken();

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

  // -- the calling side

  void obey(mailbox::request& request);
  void obey(const mailbox::keep& request);
  std::optional<std::string> server_key_of(const std::string& address) const;
  void look_at_server_keys();
  result<caller*> caller_of(const std::string& address);
  void serve_callers();
  void pump(caller& of);
  void tell_link(caller& of);
  void act(caller& of, caller_session::effect& effect);
  void open(caller& of, const caller_session::open_link& how);
  void connect(caller& of, const caller_session::open_link& how);
  bool has_room_for_link() const;
  void broke(caller& of, const link_failure& failure);

  // -- the serving side

  void serve_door();
  void left(int descriptor);
  void look_at_failure();
  void refused(const std::string& host, const std::string& reason);
  void serve_port();
  void obey(const mailbox::admit& request);
  void receive(arrival got);
  void pump_port();
  void act(server_session::effect& effect);
  void deliver(server_session::deliver& request);
  void send_to(const std::string& connection_id, message outgoing);
  void hand_out(const std::string& connection_id, message outgoing);
  void drop(const server_session::drop& ended);
  void estrange(const std::string& connection_id);
  void end_strangers(const std::vector<int>& descriptors);
  void end_stalled();
  void end_unfinished();
  int descriptor_of(const std::string& connection_id) const;

  // -- what it does wrong on purpose

  void obey(const mailbox::disturb& request);
  void cut(const std::string& peer);
  bool holds(const held_messages::target& where, message& outgoing);
  void send_held();

  transport_options options_;
  std::shared_ptr<mailbox> box_;
  std::shared_ptr<traffic> counters_;
  std::shared_ptr<link_board> links_;
  hello_message hello_;
  zmq::context_t context_;
  std::shared_ptr<const key_table> table_; ///< Null without keys.
  std::optional<authenticator> authenticator_;
  std::optional<zmq::socket_t> port_; ///< The ROUTER, if we listen.
  std::optional<zmq::socket_t> door_; ///< Tells who connects, and who is gone.
  entrance entrance_;
  const std::filesystem::path local_folder_ =
    options_.local_folder.empty() ? local_folder() : options_.local_folder;
  std::optional<local_socket> local_;     ///< What `port_` listens at, too.
  std::string without_local_;             ///< Why not, if it should.
  std::map<std::string, caller> callers_; ///< By address.
  std::optional<server_session> server_;  ///< Always there once made.
  outbox outbox_;
  held_messages held_;
  std::uint32_t to_corrupt_ = 0; ///< Messages.
  descriptor_quota quota_;
  arrivals arrivals_;
  unfinished_messages unfinished_;
  std::map<int, std::string> guests_; ///< Routes of known peers, by descriptor.
  std::map<int, std::string> hosts_;  ///< Whence connections came, the same.
  /// What libzmq has told of a connection, without saying of which.
  struct failure {
    int code;
    session_time told;
  };
  std::optional<failure> failure_;
  int descriptor_ = -1; ///< Of the connection whose message is looked at.
  /// Routes of ended connections: what they had sent before is ignored.
  std::set<std::string> ended_;
  std::deque<std::string> ended_order_;
  std::vector<zmq::pollitem_t> polls_;
  std::uint64_t next_id_ = 1;
  std::uint64_t callers_made_ = 0;
  std::uint64_t duplicates_ = 0; ///< As far as `counters_` has them already.
  awake_clock clock_;
  complaint_log complaints_{[this](const auto& line) { log(line); }};
};

} // namespace graphmill
