#pragma once

#include "actors/base/compute_thread.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/chaos.hpp"

#include <spdlog/fwd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

/// Harms its own daemon on purpose, as `graphmill chaos` asks. A daemon has one
/// if it was started with --chaos-allowed, and else none, and refuses by
/// `refuse_chaos`. Used by the AGENT and the COORDINATOR of the daemon, from
/// their handlers.
class chaos_tool {
public:
  struct settings {
    std::shared_ptr<transport> net;
    std::filesystem::path state; ///< The folder of runs, absolute.
    std::shared_ptr<spdlog::logger> log;
  };

  explicit chaos_tool(settings with);

  /// Nothing happens at a moment any more.
  ~chaos_tool();

  chaos_tool(const chaos_tool&) = delete;
  chaos_tool& operator=(const chaos_tool&) = delete;

  /// Has it happen, at once or when the moment comes, and returns before, so
  /// that who asked can be answered.
  /// @param asked `peer` is an address.
  void inflict(const chaos_request& asked);

private:
  using clock = std::chrono::steady_clock;

  void carry_out_at(clock::time_point when, std::function<void()> job);

  settings with_;
  /// Until then messages may be held back for so long: answers leave later.
  clock::time_point held_until_{};
  std::chrono::milliseconds held_for_{0};
  /// Last: ends before what its jobs use.
  std::optional<compute_thread> thread_{std::in_place};
};

/// What a daemon says that does not let itself be harmed.
error refuse_chaos(const std::string& daemon);

} // namespace graphmill
