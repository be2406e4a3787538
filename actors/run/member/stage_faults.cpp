#include "actors/run/member/stage_faults.hpp"

#include <algorithm>
#include <cstdint>

namespace graphmill {

namespace {

template <class Job>
worker_faults<Job> stage_faults(const faults_section& of,
                                std::uint32_t job_delay_ms,
                                std::uint32_t reply_delay_ms = 0) {
  return {of.crash_every, std::chrono::milliseconds{job_delay_ms},
          std::chrono::milliseconds{reply_delay_ms}};
}

} // namespace

worker_faults<neighbour_job> sampling_service_faults(const faults_section& of) {
  return stage_faults<neighbour_job>(of, of.sampling_service_delay_ms,
                                     of.reply_delay_ms);
}

/// A worker that dies has written some of the rows.
worker_faults<gather_job> feature_service_faults(const faults_section& of) {
  auto out = stage_faults<gather_job>(of, of.feature_service_delay_ms,
                                      of.reply_delay_ms);
  out.half = [](const gather_job& job) {
    auto half = job;
    half.items.resize(std::min<std::size_t>(half.items.size(), 1));
    return std::optional{std::move(half)};
  };
  return out;
}

worker_faults<sample_job> sampler_faults(const faults_section& of) {
  return stage_faults<sample_job>(of, of.sampler_delay_ms);
}

worker_faults<sample_job> batch_proxy_faults(const faults_section& of) {
  return stage_faults<sample_job>(of, 0);
}

worker_faults<fetch_job> fetcher_faults(const faults_section& of) {
  return stage_faults<fetch_job>(of, of.fetcher_delay_ms);
}

/// A worker that dies leaves its batch whole. A batch that is lost with its
/// batcher begins anew, three times only, which is for accidents.
worker_faults<assemble_job> batcher_faults(const faults_section& of) {
  auto out = stage_faults<assemble_job>(of, of.batcher_delay_ms);
  out.half = [](const assemble_job&) { return std::optional<assemble_job>{}; };
  return out;
}

} // namespace graphmill
