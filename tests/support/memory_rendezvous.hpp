#pragma once

#include "pipelines/gradients/rendezvous.hpp"

#include <condition_variable>
#include <map>
#include <mutex>

namespace graphmill::test {

/// A store for ranks of one process.
class memory_rendezvous final : public rendezvous_store {
public:
  result<void> set(const std::string& key, const std::string& value) override {
    {
      std::lock_guard lock{mutex_};
      values_[key] = value;
    }
    changed_.notify_all();
    return ok();
  }

  result<std::string> get(const std::string& key,
                          clock::time_point deadline) override {
    std::unique_lock lock{mutex_};
    const auto found = changed_.wait_until(
      lock, deadline, [this, &key] { return values_.contains(key); });
    if (!found)
      return fail(ec::timeout, "nobody has set {}", key);
    return values_.at(key);
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

} // namespace graphmill::test
