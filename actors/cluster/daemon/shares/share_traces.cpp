#include "actors/cluster/daemon/shares/share_traces.hpp"

#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "messages/wire/trace.hpp"
#include "pipelines/health/board_trace.hpp"

#include <utility>

namespace graphmill {

share_traces::share_traces(const hosted_shares& shares, std::string daemon)
  : shares_(shares), daemon_(std::move(daemon)) {}

void share_traces::add(const hosted_share& share) {
  std::erase_if(traced_, [this](const auto& entry) {
    return !shares_.contains(entry.first);
  });
  traced_[share.assignment.run] = {share.assignment.attempt(), share.health};
}

result<payload> share_traces::spans(const payload& request) const {
  const auto came = trace_time();
  GRAPHMILL_TRY(const auto wanted, decode_trace_request(request));
  const auto found = traced_.find(wanted.run);
  if (found == traced_.end())
    return fail(ec::not_found,
                "daemon \"{}\" has no traces of run {}: it keeps only those of "
                "its latest run{}",
                daemon_, wanted.run, traced_.size() > 1 ? "s" : "");
  const auto& [attempt, board] = found->second;
  auto out = trace_of(*board, wanted.from, wanted.most);
  const auto share = shares_.find(wanted.run, attempt);
  out.run = wanted.run;
  out.daemon = daemon_;
  out.attempt = attempt;
  out.over = !share || share->life.is_over();
  out.came = came;
  out.left = trace_time();
  return encode(out);
}

} // namespace graphmill
