#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// How a run that is on is, for whoever watches the cluster over HTTP.
struct run_figures {
  std::string name;
  std::uint32_t attempt = 1;
  unix_time started{0};
  run_health health;
  bool feeds = false; ///< It trains nothing: a consumer takes its batches.
};

/// How a cluster is at one moment.
struct cluster_figures {
  unix_time taken{0};
  /// Why the coordinator takes no runs, a sentence without paths; empty: it
  /// does.
  std::string unready;
  std::string address; ///< Of the coordinator.
  status_reply status;
  /// Runs that are over since this coordinator began, by state from `finished`.
  std::array<std::uint64_t, 3> over{};
  /// Of the disk with the folder of runs; 0: not known.
  std::uint64_t disk_free = 0;
  std::uint64_t disk_size = 0;
  std::vector<run_figures> runs; ///< Those that are on, the first first.
  /// Several runs may be on: what is told of one names it.
  bool several = false;
};

/// What the system counts of a process. 0 where it does not tell.
struct process_figures {
  double cpu_seconds = 0;
  std::uint32_t threads = 0;
  std::uint32_t descriptors = 0;
  std::uint32_t most_descriptors = 0; ///< That it may have open.
  std::uint64_t disk_read = 0;        ///< Bytes from disks, so far.
  std::uint64_t disk_written = 0;     ///< Bytes to disks, so far.
};

/// How a daemon is at one moment.
struct daemon_figures {
  /// What it has sent to others, and received from them, since it began.
  struct traffic_sums {
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t retries = 0;
    std::uint64_t malformed = 0;
    std::uint64_t refused = 0;
  };

  unix_time taken{0};
  std::string daemon;
  bool registered = false; ///< With the coordinator, which it hears.
  process_figures process;
  std::uint64_t memory_bytes = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t memory_available = 0; ///< That it could take beside that.
  traffic_sums traffic;
  std::vector<daemon_health> shares; ///< Its parts in the runs that are on.
  bool several = false;              ///< As in `cluster_figures`.
};

/// Where actors leave how they are, and the HTTP servers find it, so that
/// neither waits for the other: what was left is never changed, only replaced,
/// about once a second. Thread-safe.
class figures_board {
public:
  using cluster = std::shared_ptr<const cluster_figures>;
  using daemon = std::shared_ptr<const daemon_figures>;

  void leave(cluster_figures now) { leave(cluster_, std::move(now)); }
  void leave(daemon_figures now) { leave(daemon_, std::move(now)); }

  /// The latest ones; null before the first.
  cluster of_cluster() const { return latest(cluster_); }
  daemon of_daemon() const { return latest(daemon_); }

private:
  template <class T>
  void leave(std::shared_ptr<const T>& at, T now) {
    // The old one goes away after the lock does.
    auto next = std::make_shared<const T>(std::move(now));
    std::lock_guard lock{mutex_};
    at.swap(next);
  }
  template <class T>
  T latest(const T& at) const {
    std::lock_guard lock{mutex_};
    return at;
  }

  mutable std::mutex mutex_; ///< Held while a pointer is copied.
  cluster cluster_;
  daemon daemon_;
};

} // namespace graphmill
