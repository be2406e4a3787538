#include "actors/remote/calls/spread_call.hpp"

#include <memory>

namespace graphmill {

result<payload> encode(const std::string& run, part_id part,
                       const inclusion_request& request) {
  bulk_writer arrays;
  spread_request query{
    run,          part, request.edge_type, request.rule, request.first,
    request.skip, {}};
  query.chances = arrays.add(element::float32, std::as_bytes(request.chances));
  return encode(query, std::move(arrays));
}

result<inclusion_reply> read_spread(const payload& from) {
  GRAPHMILL_TRY(const auto answer, decode_spread_reply(from));
  inclusion_reply out;
  out.nodes = answer.nodes;
  out.edges = answer.edges;
  out.sources.resize(static_cast<std::size_t>(answer.sources.count));
  read_integers(answer.sources, from.bulk, out.sources.data());
  out.misses.resize(static_cast<std::size_t>(answer.misses.count));
  read_floats(answer.misses, from.bulk, out.misses.data());
  return out;
}

result<payload> answer_spread(const shard& part, const spread_request& request,
                              const payload& from) {
  pod_vector<float> chances;
  chances.resize(static_cast<std::size_t>(request.chances.count));
  read_floats(request.chances, from.bulk, chances.data());
  GRAPHMILL_TRY(auto reply,
                spread(part, {request.edge_type, request.rule, request.first,
                              request.skip, chances.span()}));
  bulk_writer arrays;
  spread_reply out{reply.nodes, reply.edges, {}, {}};
  out.sources = arrays.add_integers(reply.sources.span());
  const auto misses =
    std::make_shared<pod_vector<float>>(std::move(reply.misses));
  out.misses =
    arrays.add(element::float32, std::as_bytes(misses->span()), misses);
  return encode(out, std::move(arrays));
}

} // namespace graphmill
