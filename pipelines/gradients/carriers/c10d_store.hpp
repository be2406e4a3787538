#pragma once

// This header includes headers of libtorch, which take long to compile: only
// the sources that connect devices include it.

#include "pipelines/gradients/rendezvous.hpp"
#include "pipelines/gradients/roll_call.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace graphmill {

/// Our store as c10d wants it, which is that failures are thrown. Waits end at
/// a deadline, and within a fraction of a second when the group is abandoned,
/// whatever timeout the library asks for.
class c10d_store final : public c10d::Store {
public:
  using clock = rendezvous_store::clock;
  using milliseconds = std::chrono::milliseconds;

  /// @param library Separates the keys of those that connect by it.
  c10d_store(std::string library, std::shared_ptr<roll_call> roll,
             std::shared_ptr<rendezvous_store> store,
             clock::time_point deadline, const std::atomic<bool>& stop)
    : library_(std::move(library)), roll_(std::move(roll)),
      store_(std::move(store)), deadline_(deadline), stop_(stop) {}

  void set(const std::string& key,
           const std::vector<std::uint8_t>& value) override {
    auto done = store_->set(full(key), {value.begin(), value.end()});
    if (!done)
      throw std::runtime_error{done.error().message};
  }

  std::vector<std::uint8_t> get(const std::string& key) override {
    for (;;) {
      const auto now = clock::now();
      auto got =
        store_->get(full(key), std::min(deadline_, now + milliseconds{200}));
      if (got)
        return {got.value().begin(), got.value().end()};
      if (stop_)
        throw std::runtime_error{"the group was abandoned"};
      if (got.error().code != ec::timeout || now >= deadline_)
        throw std::runtime_error{got.error().message};
    }
  }

  void wait(const std::vector<std::string>& keys) override {
    for (const auto& key : keys)
      get(key);
  }
  void wait(const std::vector<std::string>& keys,
            const milliseconds&) override {
    wait(keys);
  }

  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(), [this](const auto& key) {
      return store_->get(full(key), {}).has_value();
    });
  }

  // NCCL does not use the following to meet.
  std::int64_t add(const std::string&, std::int64_t) override {
    throw std::logic_error{"the store does not count"};
  }
  bool deleteKey(const std::string&) override { return false; }
  std::int64_t getNumKeys() override { return 0; }

private:
  std::string full(const std::string& key) const {
    return roll_->key(library_ + "/" + key);
  }

  const std::string library_;
  std::shared_ptr<roll_call> roll_;
  std::shared_ptr<rendezvous_store> store_;
  const clock::time_point deadline_;
  const std::atomic<bool>& stop_;
};

} // namespace graphmill
