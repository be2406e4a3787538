#include "actors/cluster/health/health_reporter.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/health/peer_links.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/figures/figure_tables.hpp"

namespace graphmill {

namespace {

daemon_figures::traffic_sums sums_of(const traffic& counted) {
  daemon_figures::traffic_sums out;
  for (const auto& line : counted.methods) {
    out.bytes_sent += line.requests_sent.bytes + line.replies_sent.bytes;
    out.bytes_received +=
      line.requests_received.bytes + line.replies_received.bytes;
    out.messages_sent +=
      line.requests_sent.messages + line.replies_sent.messages;
    out.messages_received +=
      line.requests_received.messages + line.replies_received.messages;
  }
  out.retries = counted.retries;
  out.malformed = counted.malformed;
  out.refused = counted.refused;
  return out;
}

} // namespace

const health_reporter::totals& health_reporter::read(clock::time_point now) {
  if (read_.at != now)
    read_ = {now, read_process_figures(), memory_.sample(),
             sums_of(net_->statistics())};
  return read_;
}

daemon_health health_reporter::report(const health_source& of,
                                      clock::time_point now) {
  next_ = now + timeouts::health_report;
  auto& known = runs_[of.share.run];
  auto out = of.share;
  out.daemon = net_->self().name.substr(0, health_limits::text);
  if (of.board)
    known.sampler.sample(*of.board, now, out);
  if (of.flows) {
    known.peers.add_to(out.peers, *of.flows, now);
    add_links(out.peers, net_->links(), *of.flows, now);
  }
  const auto& seen = read(now);
  out.memory_bytes = seen.memory_bytes;
  out.peak_memory_bytes = memory_.peak_bytes();
  out.mapped_bytes = memory_.mapped_bytes();
  out.threads = seen.process.threads;
  out.descriptors = seen.process.descriptors;
  out.most_descriptors = seen.process.most_descriptors;
  if (double load = 0; getloadavg(&load, 1) == 1)
    out.further[figures::further_figure("host_load")] = load;
  const auto& old = known.before ? *known.before : seen;
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
    out.sent_per_second = rate(seen.traffic.bytes_sent, old.traffic.bytes_sent);
    out.received_per_second =
      rate(seen.traffic.bytes_received, old.traffic.bytes_received);
  }
  known.before = seen;
  known.last = out;
  known.last_at = now;
  return out;
}

daemon_figures health_reporter::figures(const std::vector<std::string>& runs,
                                        clock::time_point now) {
  daemon_figures out;
  out.taken = now_unix();
  out.daemon = net_->self().name;
  const auto& seen = read(now);
  out.process = seen.process;
  out.memory_bytes = seen.memory_bytes;
  out.peak_memory_bytes = memory_.peak_bytes();
  out.memory_available = memory_available().bytes;
  out.traffic = seen.traffic;
  for (const auto& run : runs) {
    const auto known = runs_.find(run);
    if (known == runs_.end() || !known->second.last)
      continue;
    auto& share = out.shares.emplace_back(*known->second.last);
    share.age =
      std::chrono::duration<double>(now - known->second.last_at).count();
  }
  return out;
}

} // namespace graphmill
