#include "pipelines/flow/stage_counters.hpp"

#include <algorithm>

namespace graphmill {

namespace {

double seconds(const std::atomic<std::int64_t>& nanoseconds) {
  return double(nanoseconds.load()) * 1e-9;
}

} // namespace

stage_report stage_counters::report() const {
  stage_report out;
  out.stage = stage_;
  out.replicas = replicas_;
  out.items = items_;
  out.bytes = bytes_;
  out.busy_seconds = seconds(busy_);
  out.cpu_seconds = seconds(cpu_);
  out.input_wait_seconds = seconds(input_);
  out.credit_wait_seconds = seconds(credit_);
  out.restarts = restarts_;
  // What is not work of the time with jobs is waiting for those who were asked.
  out.reply_wait_seconds = std::max(0.0, seconds(held_) - out.busy_seconds);
  return out;
}

std::string bottleneck_of(const std::vector<stage_report>& stages,
                          double elapsed) {
  const stage_report* busiest = nullptr;
  for (const auto& stage : stages)
    if (busiest == nullptr
        || stage.utilisation(elapsed) > busiest->utilisation(elapsed))
      busiest = &stage;
  return busiest == nullptr ? std::string{"none"} : busiest->stage;
}

} // namespace graphmill
