#pragma once

#include "actors/transport/sessions/message.hpp"
#include "actors/transport/transport.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill::test {

/// Options with short times to the next attempt, and a long one to a loss, for
/// machines that are busy.
transport_options daemon(std::string name);
transport_options client(std::string name);

/// A daemon that answers with what it is asked.
transport_options echo_daemon(std::string name);

std::unique_ptr<transport> start(transport_options options);

/// For a busy machine.
inline constexpr call_options patient{std::chrono::seconds{200}, 3,
                                      std::chrono::seconds{200}};

/// Asks and waits for the answer, at most some minutes.
result<payload> ask(transport& from, const std::string& address,
                    method method_id, payload data = {},
                    call_options options = patient);

/// A payload of a body with this text.
payload text_payload(std::string_view text);
std::string text_of(const payload& data);

/// Messages as a caller sends them; a request with 10 s left.
message hello_request(const hello_message& hello);
message request_of(std::uint64_t id, method method_id,
                   std::uint16_t attempt = 1);

/// Values that one thread puts and another waits for.
template <class T>
class collector {
public:
  void put(T value) {
    const std::lock_guard lock{mutex_};
    values_.push_back(std::move(value));
    changed_.notify_all();
  }

  /// Waits until there are `count`, at most some minutes.
  std::vector<T> wait(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{250},
                      [this, count] { return values_.size() >= count; });
    return values_;
  }

  std::size_t size() {
    const std::lock_guard lock{mutex_};
    return values_.size();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

/// A daemon that puts what it would have to answer into `held`, which must
/// outlive it.
transport_options holding_daemon(std::string name, collector<responder>& held);

} // namespace graphmill::test
