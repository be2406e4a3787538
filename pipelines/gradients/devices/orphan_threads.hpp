#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace graphmill {

/// Where threads go whose group has been abandoned while they wait inside a
/// library that cannot be interrupted: nobody waits for them, and a new group
/// forms beside them, until their own timeout ends them. One per process,
/// outliving all groups; the destructor joins. Thread-safe.
class orphan_threads {
public:
  orphan_threads() = default;
  ~orphan_threads();
  orphan_threads(const orphan_threads&) = delete;
  orphan_threads& operator=(const orphan_threads&) = delete;

  /// Takes a thread over. `finished` says when it can be joined without a wait.
  void keep(std::thread orphan, std::function<bool()> finished);

  /// Threads that have not finished.
  std::size_t size();

private:
  struct place {
    std::thread orphan;
    std::function<bool()> finished;
  };
  void clear_finished();

  std::mutex mutex_;
  std::list<place> places_;
};

} // namespace graphmill
