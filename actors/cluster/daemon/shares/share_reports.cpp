#include "actors/cluster/daemon/shares/share_reports.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/cluster/daemon/shares/share_access.hpp"
#include "partition/disk/row_reader.hpp"

#include <utility>

namespace graphmill {

share_reports::share_reports(const hosted_shares& shares,
                             const share_surroundings& around, long_work busy)
  : shares_(shares), around_(around), busy_(std::move(busy)),
    reporter_(around.net) {}

void share_reports::sample_memory() {
  for (const auto& share : shares_.all())
    share->memory.sample();
}

health_source share_reports::source_of(const hosted_share& share) const {
  const auto wire = share.wire->read();
  const auto offer = share.census->offer();
  daemon_health out;
  out.run = share.assignment.run;
  out.cache_bytes = share.cache->is_open() ? share.cache->byte_size() : 0;
  out.cache_rows_wanted = wire.rows + wire.cached_rows;
  out.cache_rows_found = wire.cached_rows;
  out.cache_offer_bytes = offer.bytes;
  out.cache_offer_spared = offer.spared;
  if (const auto& disk = share.stages.disk) {
    out.disk_cache_bytes = disk->kept;
    out.most_disk_cache_bytes = disk->room;
    out.disk_rows_wanted = disk->wanted;
    out.disk_rows_found = disk->found;
  }
  if (const auto& answers = around_.answers) {
    out.answer_bytes = answers->used;
    out.most_answer_bytes = answers->limit;
  }
  for (const auto& sentence : busy_())
    if (out.long_work.size() < health_limits::long_work)
      out.long_work.push_back(sentence.substr(0, health_limits::text));
  return {std::move(out), share.health, around_.flows};
}

std::vector<daemon_health> share_reports::due() {
  std::vector<daemon_health> out;
  const auto now = clock::now();
  if (!reporter_.due(now))
    return out;
  out.push_back(reporter_.report({}, now));
  for (const auto& share : shares_.prepared())
    out.push_back(reporter_.report(source_of(*share), now));
  return out;
}

daemon_figures share_reports::figures(clock::time_point now) {
  std::vector<std::string> runs;
  auto several = false;
  for (const auto& share : shares_.prepared()) {
    runs.push_back(share->assignment.run);
    several = several || share->assignment.runs_at_once > 1;
  }
  auto out = reporter_.figures(runs, now);
  out.several = several || runs.size() > 1;
  return out;
}

void share_reports::report_end(const hosted_share& share) {
  if (!share.health)
    return;
  const auto last = reporter_.report(source_of(share), clock::now());
  around_.net->request(
    share.assignment.coordinator, method::health_report, encode(last),
    within(timeouts::question, timeouts::question_unreachable, 1),
    [](const result<payload>&) {});
}

} // namespace graphmill
