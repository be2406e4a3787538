#pragma once

#include <cstdint>
#include <string>

namespace graphmill {

/// What a stage did so far: from its counters, over the wire, to JSON.
struct stage_report {
  std::string stage;
  std::uint32_t replicas = 0;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;        ///< Produced.
  double busy_seconds = 0;        ///< At work, over all replicas.
  double cpu_seconds = 0;         ///< Of processor time, of that.
  double input_wait_seconds = 0;  ///< Idle for want of work.
  double credit_wait_seconds = 0; ///< Held back: no room downstream.
  std::uint64_t restarts = 0;     ///< Replicas that died and were replaced.
  /// With a job, and waiting for others to answer what it needs for that.
  double reply_wait_seconds = 0;

  /// Share of `elapsed` that the average replica was at work.
  double utilisation(double elapsed) const {
    const auto total = elapsed * replicas;
    return total > 0 ? busy_seconds / total : 0;
  }

  /// The list of its fields: calls `visit` with the name in usage.capnp and the
  /// field, behind which come those of `others`, which are reports, too.
  static void fields(auto& of, auto visit, auto&... others) {
    visit("stage", of.stage, others.stage...);
    visit("replicas", of.replicas, others.replicas...);
    visit("items", of.items, others.items...);
    visit("bytes", of.bytes, others.bytes...);
    visit("busySeconds", of.busy_seconds, others.busy_seconds...);
    visit("cpuSeconds", of.cpu_seconds, others.cpu_seconds...);
    visit("inputWaitSeconds", of.input_wait_seconds,
          others.input_wait_seconds...);
    visit("creditWaitSeconds", of.credit_wait_seconds,
          others.credit_wait_seconds...);
    visit("restarts", of.restarts, others.restarts...);
    visit("replyWaitSeconds", of.reply_wait_seconds,
          others.reply_wait_seconds...);
  }
};

} // namespace graphmill
