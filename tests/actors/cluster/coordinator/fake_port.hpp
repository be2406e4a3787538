#pragma once

#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/transport/sockets/connections/key_table.hpp"
#include "messages/base/caught.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

/// A CLUSTER PORT without sockets and threads. Jobs run at once, and what
/// follows from them when the test says so. Calls wait for the test to answer.
class fake_port : public cluster_port {
public:
  struct open_call {
    std::string address;
    method what;
    payload data;
    callback then;
  };

  const peer_identity& self() const override { return self_; }
  std::vector<link_standing> links() const override { return {}; }
  void keep(const std::string& address) override { kept.insert(address); }
  void forget(const std::string& address) override { kept.erase(address); }
  void admit(key_table table) override { admitted = std::move(table); }
  void call(const std::string& address, method what, payload data,
            const call_options&, callback then) override {
    if (address == broken)
      throw std::bad_alloc{};
    calls.push_back({address, what, std::move(data), std::move(then)});
  }
  void post(lane, std::function<void()> job,
            std::function<void(const error&)> failed) override {
    try {
      job();
    } catch (...) {
      failed(caught("run a job"));
    }
  }
  std::size_t waiting(lane) override { return 0; }
  std::function<void()> resume(std::function<void()> then) override {
    return [this, then = std::move(then)] { ready_.push_back(then); };
  }

  /// Runs what follows from jobs that have ended.
  void settle() {
    while (!ready_.empty()) {
      const auto next = std::move(ready_.front());
      ready_.pop_front();
      next();
    }
  }

  /// Whether a daemon is being asked something.
  bool asks(const std::string& address, method what) {
    return find(address, what) != calls.end();
  }

  /// A daemon answers the oldest call of a method.
  /// @returns what it was asked.
  payload answer(const std::string& address, method what,
                 result<payload> with = payload{}) {
    const auto it = find(address, what);
    CATCH_REQUIRE(it != calls.end());
    const auto asked = std::move(*it);
    calls.erase(it);
    asked.then(std::move(with));
    settle();
    return asked.data;
  }

  std::deque<open_call> calls;
  std::string broken;         ///< Calls to this address throw.
  std::set<std::string> kept; ///< Addresses.
  key_table admitted;

private:
  std::deque<open_call>::iterator find(const std::string& address,
                                       method what) {
    return std::ranges::find_if(calls, [&](const auto& call) {
      return call.address == address && call.what == what;
    });
  }

  peer_identity self_{"lead", "0", "tcp://lead"};
  std::deque<std::function<void()>> ready_;
};

} // namespace graphmill::test
