#include "actors/cluster/daemon/shares/hosted_share.hpp"

#include "actors/cluster/base/tensor_pieces.hpp"
#include "partition/dataset/verification/verification.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

namespace {

/// No model has as many.
constexpr std::size_t most_loaded_tensors = std::size_t{1} << 16;

/// What the daemon sent, as requests and as replies.
flow_count sent_of(const traffic::line& line) {
  return {line.requests_sent.messages + line.replies_sent.messages,
          line.requests_sent.bytes + line.replies_sent.bytes};
}

flow_count difference(const flow_count& now, const flow_count& before) {
  return {now.messages - before.messages, now.bytes - before.bytes};
}

/// What came over the wire from other daemons.
wire_use received(const remote_counters& wire) {
  wire_use out;
  out.ids_asked = {wire.requests, wire.ids_out};
  out.sampled_neighbours = {wire.sampled_sources, wire.sources_in};
  out.feature_rows = {wire.rows, wire.rows_in};
  out.other_bytes = wire.values_in + wire.edge_ids_in;
  out.sampled_batches = {wire.batches, wire.batches_in};
  return out;
}

/// Whole messages that have left since then, by what they are about.
void add_sent(wire_use& to, const traffic& before, const traffic& now) {
  for (std::size_t m = 0; m < method_count; ++m) {
    const auto which = static_cast<method>(m);
    const auto more = difference(sent_of(now.of(which)), //
                                 sent_of(before.of(which)));
    const auto about = traits_of(which).about;
    if (about == method_subject::gradients)
      continue; // Their stage counts them.
    auto& sum = about == method_subject::sampling   ? to.sampling_sent
                : about == method_subject::features ? to.features_sent
                                                    : to.control_sent;
    sum.items += more.messages;
    sum.bytes += more.bytes;
  }
}

/// What the cache of remote rows did, and what filling it took.
cache_use report_of(const row_cache& cache, const remote_counters& wire,
                    const remote_counters& filling) {
  cache_use out;
  out.filling = {filling.rows, filling.bytes_in + filling.bytes_out};
  if (cache.is_open())
    for (std::size_t t = 0; t < cache.type_count(); ++t)
      out.kept.items += cache.ids(static_cast<node_type_id>(t)).size();
  out.kept.bytes = cache.byte_size();
  out.found = {wire.cached_rows, wire.cached_bytes};
  return out;
}

std::string why_no_success(const hosted_share& run) {
  const auto& sound = run.life.sound();
  if (!sound)
    return "its data were not verified";
  if (!*sound)
    return sound->error().message;
  const auto same = still_unchanged(run.records, replaced_files::pass);
  return same ? std::string{} : same.error().message;
}

} // namespace

member_reply final_report(hosted_share& run, const traffic& sent) {
  member_reply out;
  auto& work = out.work;
  work = run.stages.report();
  const auto wire = run.wire->read();
  work.wire = received(wire);
  add_sent(*work.wire, run.sent_before, sent);
  if (run.assignment.def.fetch.cache != 0)
    work.cache = report_of(*run.cache, wire, run.filling->read());
  if (run.audit) {
    work.checked = run.audit->sound();
    out.distrusted = run.audit->liars();
  }
  run.memory.sample();
  work.peak_memory_bytes = run.memory.peak_bytes();
  work.peak_credit_bytes = run.gauges->peak_bytes;
  work.oversize_batches = run.gauges->oversize;
  work.retried_batches = run.gauges->retried;
  work.cpu_seconds = process_cpu_seconds() - run.cpu_before;
  if (run.life.finishing())
    out.failure = why_no_success(run);
  return out;
}

member_reply keep_states(hosted_share& run, trainer_action action,
                         const member_state& state) {
  member_reply out;
  for (const auto& trainer : state.trainers)
    out.trainers.push_back({trainer.rank, trainer.digest, trainer.steps});
  // A checkpoint is fetched while other orders come.
  auto& kept =
    action == trainer_action::checkpoint ? run.checkpoint : run.snapshot;
  if (!state.trainers.empty()) {
    const auto first = std::min_element(
      state.trainers.begin(), state.trainers.end(),
      [](const auto& a, const auto& b) { return a.rank < b.rank; });
    kept = first->parameters;
  }
  if (kept)
    for (const auto& tensor : *kept)
      out.tensors.push_back({tensor.name, tensor.shape});
  return out;
}

result<payload> piece_of(const hosted_share& run,
                         const weights_request& wanted) {
  return piece_in(wanted.checkpoint ? run.checkpoint : run.snapshot, wanted);
}

result<void> load_piece(hosted_share& run, const member_request& piece,
                        const payload& values) {
  if (!run.loading)
    run.loading = std::make_shared<std::vector<named_tensor>>();
  auto& tensors = *run.loading;
  if (piece.offset == 0 && tensors.size() < most_loaded_tensors)
    tensors.push_back({piece.tensor.name, piece.tensor.shape, {}});
  if (tensors.empty() || tensors.back().name != piece.tensor.name
      || tensors.back().shape != piece.tensor.shape
      || tensors.back().values.size() != piece.offset)
    return fail(ec::invalid_argument,
                "a piece of tensor {} does not follow the one before",
                piece.tensor.name);
  std::uint64_t bytes = 0;
  for (const auto& part : values.bulk)
    bytes += part.size();
  const auto count = bytes / sizeof(float);
  if (count > piece.tensor.size() - piece.offset
      || count > run.most_loaded_values - run.loaded_values)
    return fail(ec::invalid_argument,
                "tensor {} brings more values than the trainers here have",
                piece.tensor.name);
  run.loaded_values += count;
  auto& to = tensors.back().values;
  to.resize(piece.offset + count);
  return decode_weights(values, std::span{to}.subspan(piece.offset));
}

} // namespace graphmill
