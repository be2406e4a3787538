#include "pipelines/gradients/rendezvous.hpp"

namespace graphmill {

result<void> memory_rendezvous::set(const std::string& key,
                                    const std::string& value) {
  {
    std::lock_guard lock{mutex_};
    values_[key] = value;
  }
  changed_.notify_all();
  return ok();
}

result<std::string> memory_rendezvous::get(const std::string& key,
                                           clock::time_point deadline) {
  std::unique_lock lock{mutex_};
  const auto found = changed_.wait_until(
    lock, deadline, [this, &key] { return values_.count(key) != 0; });
  if (!found)
    return fail(ec::timeout, "nobody has set {}", key);
  return values_.at(key);
}

} // namespace graphmill
