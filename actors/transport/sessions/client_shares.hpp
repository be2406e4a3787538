#pragma once

#include "actors/transport/sessions/client_limits.hpp"
#include "actors/transport/sessions/message.hpp"
#include "actors/transport/sessions/token_bucket.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// The books of what each client, and each host with all of its clients, takes
/// of a daemon: places, requests under way, requests per second. Decides who
/// has to wait. A `server_session` calls it; it does nothing itself and is told
/// the time.
class client_shares {
public:
  /// Why a client has to wait, and for how long.
  struct refusal {
    std::string why;
    std::chrono::milliseconds retry_after{0};
    /// Refusals of its host since they were told last; 0: not to be told now.
    std::uint64_t times = 0;
  };

  /// @param places Of all peers together.
  client_shares(client_limits with, std::size_t places)
    : with_(with), places_(places) {}

  /// We keep a connection to the peer at an address, which is this incarnation;
  /// or none any more.
  void keep(const std::string& address, const std::string& incarnation);
  void unkeep(const std::string& address);

  // -- places

  /// Whether a newcomer finds a place.
  bool has_place(const std::string& host, const std::string& incarnation) const;

  /// Who is to give a newcomer of its host its place. Nobody, if all have
  /// something under way, or had a moment ago.
  std::optional<std::string> idlest(session_time now,
                                    const std::string& host) const;

  /// What a newcomer without a place is told.
  refusal no_place(session_time now, const std::string& host);

  void came(session_time now, const std::string& host,
            const std::string& incarnation);
  /// All of its connections are gone: the first to give up its place.
  void unconnected(const std::string& incarnation);
  void left(session_time now, const std::string& incarnation);

  // -- requests

  /// Whether a request may begin; if so, it counts until `ended`.
  /// @param which For sentences.
  /// @param as Of this client, until its end.
  /// @pre the client has come
  std::optional<refusal> begin(session_time now, const std::string& incarnation,
                               method which, request_class as);
  /// One that began before the client was lost, and is back.
  void resume(const std::string& incarnation, request_class as);
  /// @param host Whence it came: the client may have left.
  void ended(session_time now, const std::string& host,
             const std::string& incarnation, request_class as);

  std::size_t hosts() const { return hosts_.size(); }

private:
  using since = std::pair<session_time, std::string>;

  struct books {
    std::array<std::size_t, request_classes> under_way{};
    std::vector<token_bucket> buckets; ///< By class.
  };
  struct client_books : books {
    std::string host;
    session_time idle_since{};
    std::size_t requests = 0; ///< Under way, of all classes.
  };
  struct host_books : books {
    std::size_t places = 0;
    std::set<since> idle; ///< Clients with nothing under way.
    std::uint64_t untold = 0;
    session_time told{};
  };

  host_books& host_of(session_time now, const std::string& name);
  bool is_free(const host_books& of, session_time now) const;
  refusal refuse(session_time now, const std::string& name, std::string why,
                 std::chrono::milliseconds retry_after);
  void set_idle(client_books& of, const std::string& incarnation,
                session_time time);

  client_limits with_;
  std::size_t places_;
  std::map<std::string, client_books> clients_; ///< By incarnation.
  std::map<std::string, host_books> hosts_;
  std::map<std::string, std::string> kept_; ///< Incarnations, by address.
  std::set<std::string> members_;           ///< The same incarnations.
};

} // namespace graphmill
