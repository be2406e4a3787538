#include "actors/cluster/health/health_reporter.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/health/peer_links.hpp"
#include "partition/files/memory_limit.hpp"

namespace graphmill {

const health_reporter::totals& health_reporter::read(clock::time_point now) {
  if (read_.at == now)
    return read_;
  read_ = {now, read_process_figures(), memory_.sample(), 0, 0};
  for (const auto& line : net_->statistics().methods) {
    read_.sent += line.requests_sent.bytes + line.replies_sent.bytes;
    read_.received +=
      line.requests_received.bytes + line.replies_received.bytes;
  }
  return read_;
}

daemon_health health_reporter::report(const health_source& of,
                                      clock::time_point now) {
  next_ = now + timeouts::health_report;
  auto& known = runs_[of.run];
  daemon_health out;
  out.daemon = net_->self().name.substr(0, health_limits::text);
  out.run = of.run;
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
  if (of.disk) {
    out.disk_cache_bytes = of.disk->kept;
    out.most_disk_cache_bytes = of.disk->room;
    out.disk_rows_wanted = of.disk->wanted;
    out.disk_rows_found = of.disk->found;
  }
  out.cache_bytes = of.cache_bytes;
  out.cache_rows_wanted = of.cache_rows_wanted;
  out.cache_rows_found = of.cache_rows_found;
  out.cache_offer_bytes = of.offer.bytes;
  out.cache_offer_spared = of.offer.spared;
  out.answer_bytes = of.answer_bytes;
  out.most_answer_bytes = of.most_answer_bytes;
  for (const auto& sentence : of.long_work)
    if (out.long_work.size() < health_limits::long_work)
      out.long_work.push_back(sentence.substr(0, health_limits::text));
  out.threads = seen.process.threads;
  out.descriptors = seen.process.descriptors;
  out.most_descriptors = seen.process.most_descriptors;
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
    out.sent_per_second = rate(seen.sent, old.sent);
    out.received_per_second = rate(seen.received, old.received);
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
  out.process = read_process_figures();
  out.memory_bytes = memory_.sample();
  out.peak_memory_bytes = memory_.peak_bytes();
  out.memory_available = memory_available().bytes;
  const auto traffic = net_->statistics();
  auto& sums = out.traffic;
  for (const auto& line : traffic.methods) {
    sums.bytes_sent += line.requests_sent.bytes + line.replies_sent.bytes;
    sums.bytes_received +=
      line.requests_received.bytes + line.replies_received.bytes;
    sums.messages_sent +=
      line.requests_sent.messages + line.replies_sent.messages;
    sums.messages_received +=
      line.requests_received.messages + line.replies_received.messages;
  }
  sums.retries = traffic.retries;
  sums.malformed = traffic.malformed;
  sums.refused = traffic.refused;
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
