#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "actors/transport/sockets/link_board.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

struct key_table;

/// What the objects of a COORDINATOR use outside of it: other daemons, and
/// threads that may wait for a disk. Results come back to its handlers, so that
/// these objects need no locks. A test replaces it, and needs neither sockets
/// nor actors.
class cluster_port {
public:
  using callback = std::function<void(result<payload>)>;

  /// A thread that runs its jobs in their order.
  enum class lane : std::uint8_t {
    files,   ///< Run folders, uploads, the room on the disk.
    history, ///< The run history and its lock.
    members, ///< The members file. Only where keys have roles.
  };

  virtual ~cluster_port() = default;

  /// The coordinator's own daemon.
  virtual const peer_identity& self() const = 0;

  // -- other daemons

  /// The connections to them.
  virtual std::vector<link_standing> links() const = 0;
  /// Keeps a connection to an address, until `forget`.
  virtual void keep(const std::string& address) = 0;
  virtual void forget(const std::string& address) = 0;
  /// Replaces the keys that connections are accepted with.
  virtual void admit(key_table table) = 0;
  /// Asks a daemon. `then` runs in a handler, once.
  virtual void call(const std::string& address, method what, payload data,
                    const call_options& how, callback then) = 0;

  // -- threads

  /// Runs `job` on a thread. If it throws, `failed` runs there, too.
  virtual void post(lane on, std::function<void()> job,
                    std::function<void(const error&)> failed) = 0;
  /// Jobs of a thread that have not begun.
  virtual std::size_t waiting(lane on) = 0;
  /// @returns what any thread calls once to have `then` run in a handler.
  virtual std::function<void()> resume(std::function<void()> then) = 0;

  /// Runs `job` on a thread, and `then` with its result in a handler. If the
  /// job throws, its result is that error.
  template <class T>
  void work(lane on, std::function<result<T>()> job,
            std::function<void(result<T>)> then) {
    const auto out = std::make_shared<result<T>>(
      fail(ec::internal, "a job of the coordinator has no result"));
    const auto done =
      resume([out, then = std::move(then)] { then(std::move(*out)); });
    post(
      on,
      [out, done, job = std::move(job)] {
        *out = job();
        done();
      },
      [out, done](const error& reason) {
        *out = reason;
        done();
      });
  }
};

} // namespace graphmill
