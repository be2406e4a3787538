#pragma once

#include "actors/feed/feed_frames.hpp"
#include "actors/feed/feed_socket.hpp"
#include "messages/base/arena.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// The consumer of a feed, as those who make its batches see it: who outlives
/// their actors, and has a batch until it frees it. From any thread.
class feed_consumer {
public:
  /// @param socket, memory Outlive it.
  feed_consumer(feed_socket& socket, arena& memory,
                std::shared_ptr<spdlog::logger> log)
    : socket_(socket), memory_(memory), log_(std::move(log)) {}

  /// Hands out a batch that lies in the arena.
  /// @param number Above those of all batches before it.
  /// @returns false if there is no room for it now.
  bool hand(std::uint64_t number, std::uint64_t pass,
            std::shared_ptr<minibatch> batch);

  /// The consumer reads some of these batches no more.
  void free(const std::vector<batch_back>& batches);

  /// Above the numbers of all batches that were handed out.
  std::uint64_t next_number() const;

  /// The feed cannot go on.
  void report(const error& reason);

  /// @param what As of `waits_frame`.
  void waits(const std::string& what);

  /// What limits its feed, which it has asked for.
  void judged(const result<verdict>& said);

  /// Tells it what it had no room for. Called now and then.
  void tell_again();

  std::size_t arena_bytes() const { return memory_.bytes(); }

private:
  void tell();

  feed_socket& socket_;
  arena& memory_;
  std::shared_ptr<spdlog::logger> log_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<minibatch>> batches_;
  std::uint64_t next_ = 0;
  // Frames that did not fit; empty: none. The first failure, the latest word on
  // what is waited for, and the latest verdict.
  std::string failure_;
  std::string waits_;
  std::string verdict_;
};

} // namespace graphmill
