#pragma once

#include <cstdint>
#include <string>

namespace graphmill {

/// What a stage did so far.
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

  /// Share of `elapsed` that the average replica was at work.
  double utilisation(double elapsed) const {
    const auto all = elapsed * replicas;
    return all > 0 ? busy_seconds / all : 0;
  }
};

/// Calls `visit(name, field)` for each figure of a report, by the names that
/// they have in JSON.
template <class Report, class Visit>
void for_each_figure(Report& report, Visit visit) {
  visit("replicas", report.replicas);
  visit("items", report.items);
  visit("bytes", report.bytes);
  visit("busy_seconds", report.busy_seconds);
  visit("cpu_seconds", report.cpu_seconds);
  visit("input_wait_seconds", report.input_wait_seconds);
  visit("credit_wait_seconds", report.credit_wait_seconds);
  visit("restarts", report.restarts);
}

} // namespace graphmill
