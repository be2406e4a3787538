#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"
#include "pipelines/definition/placement.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Whether a daemon of this name consumes feeds, and does nothing else: it is
/// called DAEMON/feed-NUMBER, and no other daemon may have a slash in its name.
inline bool is_consumer(const std::string& daemon) {
  return daemon.find('/') != std::string::npos;
}

/// Who is in the cluster. Pure: the COORDINATOR tells it what happens.
class daemon_registry {
public:
  struct entry {
    daemon_status status;
    std::string incarnation;
    bool drained = false;     ///< By its operator; stays so if it is restarted.
    bool leaving = false;     ///< Has asked to leave; a run still needs it.
    std::uint64_t losses = 0; ///< Value of `losses_` when it was lost.
    std::string fault;        ///< What it says is wrong with its data.
    std::string distrust;     ///< What others say is wrong with them.
    bool disobeys = false; ///< Says that another coordinator leads the cluster.
    std::string arithmetic;
    std::string arithmetic_digest;
    std::string key; ///< That it has shown; empty where keys have no roles.
  };

  /// The most daemons of a cluster, and the longest name of a host.
  static constexpr std::size_t most_daemons = 1024;
  static constexpr std::size_t longest_host = 253;
  /// The most consumers of feeds that a key has.
  static constexpr std::size_t consumers_of_key = 64;
  /// Of a digest that somebody has sent, enough to know it again. What the
  /// coordinator's own is, a refusal does not tell: whoever learnt it could
  /// claim to have those data.
  static constexpr std::size_t digest_shown = 12;

  /// @param like What the coordinator's own dataset is: all must have the same.
  explicit daemon_registry(join_request like) : like_(std::move(like)) {}

  /// Whether a daemon with these parts fits the cluster and its dataset. One
  /// that has left does not: what it asked while it ended comes too late. Nor
  /// does a consumer of feeds that has parts or slots, by its name.
  result<void> check(const peer_identity& identity,
                     const join_request& request) const;

  /// The living daemon of another incarnation that has the name, if any.
  std::optional<entry> rival_of(const peer_identity& identity) const;

  /// The daemon of another name that is at this address, and not lost, if any.
  std::optional<entry> tenant_of(const peer_identity& identity) const;

  /// Takes a daemon in. It replaces one of the same name; in a cluster that has
  /// as many as it may, it replaces the one that has been lost for longest.
  /// @returns addresses at which nobody is any more. @pre `check` succeeds
  std::vector<std::string> join(const peer_identity& identity,
                                const join_request& request);

  /// A daemon has left for good, or does not join after all.
  /// @returns whether there was one of this incarnation.
  bool leave(const std::string& name, const std::string& incarnation);

  /// A lost daemon is not awaited any more. @returns its address; empty: it is
  /// not there, or not lost.
  std::string forget(const std::string& name);

  /// The daemon at the address is gone, or back.
  /// @returns the daemon, if there is one whose state has changed.
  std::optional<entry> lost(const std::string& address, std::string reason);
  std::optional<entry> back(const std::string& address,
                            const std::string& incarnation);

  /// The daemon at the address, if it is of another incarnation.
  std::optional<entry> outdated(const std::string& address,
                                const std::string& incarnation);

  /// Whether a daemon of the cluster, lost or not, has this address.
  bool has(const std::string& address) const;

  /// A daemon leaves as soon as it can: new runs do not use it.
  void begin_to_leave(const std::string& name);

  /// Another daemon has shown that this one sends what the dataset does not
  /// have: it counts as damaged until it is started again.
  void distrust(const std::string& name, std::string reason);

  bool is_distrusted(const std::string& name) const;

  /// A daemon takes no orders of this coordinator any more: it is not trusted,
  /// until it is started again.
  void disobeys(const std::string& name, std::string reason);
  bool is_disobeyed() const; ///< By one at least.
  /// Whether all other daemons that are there say so, and more than one: a
  /// single one may lie. Consumers have no voice: a key has many.
  /// @param self The coordinator's own.
  bool nobody_obeys(const std::string& self) const;

  /// Fails if there is no such daemon.
  result<void> drain(const std::string& name, bool drained);
  result<entry> find(const std::string& name) const;
  /// Empty if there is no such daemon, or keys have no roles.
  std::string key_of(const std::string& name) const;

  /// Daemons that a new run may use. With another `up_to` also those that are
  /// draining, or lost, which tells what a run would wait for.
  std::vector<daemon_offer>
  offers(daemon_state up_to = daemon_state::ready) const;

  /// Names of those in a state.
  std::vector<std::string> names_of(daemon_state state) const;
  std::vector<daemon_status> statuses() const; ///< By name.
  const join_request& like() const { return like_; }

private:
  result<void> check_consumer(const peer_identity& identity,
                              const join_request& request) const;
  std::string forget_one();
  entry* at(const std::string& address);
  static void set_state(entry& daemon);

  join_request like_;
  std::map<std::string, entry> daemons_; ///< By name.
  std::deque<std::string> left_;         ///< The latest incarnations to leave.
  std::uint64_t losses_ = 0;
};

} // namespace graphmill
