#include "actors/cluster/daemon/share_host.hpp"
#include "messages/wire/trace.hpp"
#include "pipelines/health/board_trace.hpp"

// What the coordinator reads from a daemon's shares, and changes nothing by.

namespace graphmill {

result<payload> share_host::read(const incoming_request& request) const {
  return request.method == method::spans ? spans(request.data)
                                         : weights(request.data);
}

result<payload> share_host::weights(const payload& data) const {
  GRAPHMILL_TRY(const auto wanted, decode_weights_request(data));
  if (wanted.kept)
    return kept_.piece(wanted);
  GRAPHMILL_TRY(const auto run, find(wanted.run));
  return piece_of(*run, wanted);
}

result<payload> share_host::spans(const payload& data) const {
  const auto came = trace_time();
  GRAPHMILL_TRY(const auto wanted, decode_trace_request(data));
  const auto traced = traced_.find(wanted.run);
  if (traced == traced_.end())
    return fail(ec::not_found,
                "daemon \"{}\" has no traces of run {}: it keeps only those of "
                "its latest run{}",
                name(), wanted.run, traced_.size() > 1 ? "s" : "");
  const auto& [attempt, board] = traced->second;
  auto out = trace_of(*board, wanted.from, wanted.most);
  const auto share = find(wanted.run, attempt);
  out.run = wanted.run;
  out.daemon = name();
  out.attempt = attempt;
  out.over = !share || share->life.is_over();
  out.came = came;
  out.left = trace_time();
  return encode(out);
}

} // namespace graphmill
