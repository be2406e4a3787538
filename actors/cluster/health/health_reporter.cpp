#include "actors/cluster/health/health_reporter.hpp"

#include "actors/base/timeouts.hpp"

namespace graphmill {

health_reporter::totals health_reporter::read(clock::time_point now) const {
  totals out{now, read_process_figures(), 0, 0};
  for (const auto& line : net_->statistics().methods) {
    out.sent += line.requests_sent.bytes + line.replies_sent.bytes;
    out.received += line.requests_received.bytes + line.replies_received.bytes;
  }
  return out;
}

daemon_health health_reporter::report(const health_source& of,
                                      clock::time_point now) {
  next_ = now + timeouts::health_report;
  if (run_ != of.run) {
    run_ = of.run;
    before_.reset();
  }
  daemon_health out;
  out.daemon = net_->self().name.substr(0, health_limits::text);
  out.run = of.run;
  sampler_.sample(*of.board, now, out);
  out.memory_bytes = memory_.sample();
  out.peak_memory_bytes = memory_.peak_bytes();
  out.cache_bytes = of.cache_bytes;
  out.cache_rows_wanted = of.cache_rows_wanted;
  out.cache_rows_found = of.cache_rows_found;
  for (const auto& sentence : of.long_work)
    if (out.long_work.size() < health_limits::long_work)
      out.long_work.push_back(sentence.substr(0, health_limits::text));
  auto seen = read(now);
  out.threads = seen.process.threads;
  out.descriptors = seen.process.descriptors;
  out.most_descriptors = seen.process.most_descriptors;
  const auto& old = before_ ? *before_ : seen;
  const auto seconds = std::chrono::duration<double>(now - old.at).count();
  if (seconds > 0) {
    // What could not be read, as without a free descriptor, is 0.
    const auto rate = [seconds](auto later, auto earlier) {
      return later > earlier ? double(later - earlier) / seconds : 0.0;
    };
    out.cores = rate(seen.process.cpu_seconds, old.process.cpu_seconds);
    out.disk_read_per_second =
      rate(seen.process.disk_read, old.process.disk_read);
    out.disk_written_per_second =
      rate(seen.process.disk_written, old.process.disk_written);
    out.sent_per_second = rate(seen.sent, old.sent);
    out.received_per_second = rate(seen.received, old.received);
  }
  before_ = seen;
  return out;
}

} // namespace graphmill
