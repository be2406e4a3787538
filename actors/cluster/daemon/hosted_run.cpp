#include "actors/cluster/daemon/hosted_run.hpp"

#include "partition/dataset/verification.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// A message holds no more than that: 32 MiB.
constexpr std::uint64_t most_values = std::uint64_t{8} << 20;

stage_report wire_figures(const char* what, std::uint64_t items,
                          std::uint64_t bytes) {
  stage_report out;
  out.stage = what;
  out.items = items;
  out.bytes = bytes;
  return out;
}

/// What the daemon sent, as requests and as replies.
flow_count sent_of(const traffic::line& line) {
  return {line.requests_sent.messages + line.replies_sent.messages,
          line.requests_sent.bytes + line.replies_sent.bytes};
}

flow_count difference(const flow_count& now, const flow_count& before) {
  return {now.messages - before.messages, now.bytes - before.bytes};
}

/// Whole messages by what they are about. Each is counted where it leaves, so
/// that the sum over daemons has it once.
void add_messages(std::vector<stage_report>& to, const traffic& before,
                  const traffic& now) {
  flow_count sampling, features, control;
  for (std::size_t m = 0; m < method_count; ++m) {
    const auto which = static_cast<method>(m);
    const auto more = difference(sent_of(now.of(which)), //
                                 sent_of(before.of(which)));
    auto& sum = which == method::sample || which == method::sample_batch
                  ? sampling
                : which == method::gather || which == method::spread ? features
                                                                     : control;
    sum.messages += more.messages;
    sum.bytes += more.bytes;
  }
  for (const auto& [what, sum] : {std::pair{"wire: sampling sent", sampling},
                                  std::pair{"wire: features sent", features},
                                  std::pair{"wire: control sent", control}})
    to.push_back(wire_figures(what, sum.messages, sum.bytes));
}

/// What the cache of remote rows did, and what filling it took.
void add_cache(const hosted_run& run, const remote_counters& wire,
               std::vector<stage_report>& stages) {
  const auto filling = run.filling->read();
  std::uint64_t rows = 0;
  if (run.cache->is_open())
    for (std::size_t t = 0; t < run.cache->type_count(); ++t)
      rows += run.cache->ids(static_cast<node_type_id>(t)).size();
  stages.push_back(wire_figures("wire: cache filling", filling.rows,
                                filling.bytes_in + filling.bytes_out));
  stages.push_back(
    wire_figures("cache: rows kept", rows, run.cache->byte_size()));
  stages.push_back(
    wire_figures("cache: rows found", wire.cached_rows, wire.cached_bytes));
}

std::string why_no_success(const hosted_run& run) {
  const auto& sound = run.life.sound();
  if (!sound)
    return "its data were not verified";
  if (!*sound)
    return sound->error().message;
  const auto same = still_unchanged(run.records, replaced_files::pass);
  return same ? std::string{} : same.error().message;
}

} // namespace

member_reply final_report(hosted_run& run, const traffic& sent) {
  member_reply out;
  out.stages = run.stages.reports();
  // What came over the wire from other daemons, as stages without replicas.
  const auto wire = run.wire->read();
  out.stages.push_back(
    wire_figures("wire: ids asked", wire.requests, wire.ids_out));
  out.stages.push_back(wire_figures("wire: sampled neighbours",
                                    wire.sampled_sources, wire.sources_in));
  out.stages.push_back(
    wire_figures("wire: feature rows", wire.rows, wire.rows_in));
  out.stages.push_back(
    wire_figures("wire: other values", 0, wire.values_in + wire.edge_ids_in));
  out.stages.push_back(
    wire_figures("wire: sampled batches", wire.batches, wire.batches_in));
  add_messages(out.stages, run.sent_before, sent);
  if (run.what.def.fetch.cache != 0)
    add_cache(run, wire, out.stages);
  run.memory.sample();
  out.peak_memory_bytes = run.memory.peak_bytes();
  out.peak_credit_bytes = run.gauges->peak_bytes;
  out.oversize_batches = run.gauges->oversize;
  out.retried_batches = run.gauges->retried;
  out.cpu_seconds = process_cpu_seconds() - run.cpu_before;
  if (run.life.finishing())
    out.failure = why_no_success(run);
  return out;
}

result<payload> piece_of(const hosted_run& run, const weights_request& wanted) {
  if (!run.snapshot || wanted.tensor >= run.snapshot->size())
    return fail(ec::not_found, "there is no tensor {} of run {} here",
                wanted.tensor, wanted.run);
  const auto& values = (*run.snapshot)[wanted.tensor].values;
  if (wanted.count > most_values || wanted.offset > values.size()
      || wanted.count > values.size() - wanted.offset)
    return fail(ec::invalid_argument,
                "tensor {} has {} values; {} from {} on are too many",
                wanted.tensor, values.size(), wanted.count, wanted.offset);
  return encode_weights(std::span{values}.subspan(wanted.offset, wanted.count));
}

} // namespace graphmill
