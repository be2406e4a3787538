#include "actors/remote/calls/batch_call.hpp"
#include "actors/remote/calls/gather_call.hpp"
#include "actors/remote/calls/sampling_call.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/reply_merge.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/registry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

// What daemons answer to questions about the data, as those who have asked take
// it: into a batch, or into the memory of somebody who waits.

namespace graphmill::fuzz {

namespace {

dataset_info small_info(bool weighted = false) {
  dataset_info out;
  out.name = "small";
  out.node_types = {
    {.name = "node", .count = 10, .feature_width = 2, .class_count = 3}};
  out.edge_types = {{.source = 0,
                     .name = "to",
                     .destination = 0,
                     .count = 50,
                     .max_in_degree = 9,
                     .weighted = weighted}};
  return out;
}

const std::vector<node_id> asked{4, 7};

sampling_scheme two_hops() {
  sampling_scheme out;
  out.fanouts = {{2}, {2}};
  out.edge_ids = true;
  return out;
}

/// What a layer does with a batch must never leave its arrays.
void walk(const sampled_subgraph& batch) {
  const auto& nodes = batch.nodes.at(0);
  const auto& edges = batch.edges.at(0);
  for (int hop = 1; hop <= batch.hops; ++hop)
    for (std::int64_t row = 0; row < batch.rows(0, hop); ++row) {
      const auto from = edges.indptr[row];
      const auto to = edges.indptr[row + 1];
      require(0 <= from && from <= to && to <= std::ssize(edges.sources),
              "rows of a batch beyond its sources");
      for (auto i = from; i < to; ++i)
        require(edges.sources[i] >= 0 && edges.sources[i] < nodes.found.at(hop),
                "a batch with a source that its hop does not know");
    }
  for (const auto id : nodes.ids)
    require(id >= 0 && id < 10, "a batch with a node that there is not");
  require(edges.weights.empty() || edges.weights.size() == edges.sources.size(),
          "a batch with weights of other edges than it has");
  for (const auto weight : edges.weights)
    require(weight >= 0 && std::isfinite(weight),
            "a batch with a weight that is none");
}

void take_batch(const payload& from, bool weighted) {
  const auto reply = decode_batch_reply(from);
  if (!reply || reply.value().too_large)
    return;
  const auto info = small_info(weighted);
  auto scheme = two_hops();
  scheme.weights = weighted;
  if (const auto got = read_batch(info, scheme, target_seeds(info, asked),
                                  reply.value(), from, nullptr))
    walk(got.value());
}

/// @param nodes Of which sources are kept; null: of all.
void take_neighbours(const payload& from, draw_rule rule, bool weighted = false,
                     const node_subset* nodes = nullptr) {
  const auto reply = decode_sample_reply(from);
  if (!reply || reply.value().answers.empty())
    return;
  static const auto info = small_info(true);
  neighbour_request request;
  request.weights = weighted;
  request.hop = 1;
  request.rule = rule;
  request.edge_ids = true;
  request.destinations = asked;
  request.among = nodes;
  auto of = std::make_shared<remote_sampling>(request, nullptr, 0);
  const sampling_piece whole{of, 0, asked.size()};
  const auto next =
    accept_piece(info, whole, reply.value().answers.front(), from, nullptr);
  if (!next || next.value() || !of->complete())
    return;
  const auto joined = of->take();
  if (!check_reply(info, 0, request, joined))
    return; // As a sampler does, which numbers what passes.
  reply_merge merge{asked.size(), {}, {&joined}};
  std::vector<std::int64_t> indptr(asked.size());
  merge.write_indptr(0, indptr.data());
  require(indptr.back() == static_cast<std::int64_t>(merge.sources()),
          "rows that do not end with their sources");
  std::vector<std::int64_t> sources(merge.sources());
  merge.write_sources(sources.data());
  for (const auto source : sources)
    require(source >= 0 && source < 10, "a source that is no node");
  std::vector<float> weights(weighted ? merge.sources() : 0);
  if (weighted)
    merge.write_weights(weights.data());
  for (const auto weight : weights)
    require(weight >= 0 && std::isfinite(weight), "a weight that is none");
}

void take_sums(const payload& from) {
  static const auto info = small_info(true);
  std::array<float, 2> sums{};
  auto job = std::make_shared<remote_gather>(nullptr);
  job->wanted = {{0, asked, {{gather_kind::in_weights, {}, sums.data()}}}};
  const auto calls = cut_calls(info, job, 1 << 20, false);
  require(calls.size() == 1, "a small job was cut");
  if (!scatter(info, calls.front(), false, from))
    return;
  for (const auto sum : sums)
    require(sum >= 0 && std::isfinite(sum), "a sum of weights that is none");
}

/// Lists of all in-edges, of which those are kept that lead from a few nodes.
void take_neighbours_among(const payload& from) {
  pod_vector<node_id> ids;
  id_table numbers{10, nullptr};
  std::array<local_id, 3> locals{};
  numbers.number(std::span<const node_id>{std::array<node_id, 3>{1, 2, 5}},
                 locals.data(), ids);
  const node_subset nodes{0, &ids, &numbers};
  take_neighbours(from, {-1, draw_kind::without_replacement}, false, &nodes);
}

void take_values(const payload& from, bool half) {
  static const auto info = small_info();
  std::array<float, 4> features{};
  std::array<std::int64_t, 2> labels{};
  auto job = std::make_shared<remote_gather>(nullptr);
  job->wanted = {{0,
                  asked,
                  {{gather_kind::features, {}, features.data()},
                   {gather_kind::labels, {}, labels.data()}}}};
  const auto calls = cut_calls(info, job, 1 << 20, half);
  require(calls.size() == 1, "a small job was cut");
  (void)scatter(info, calls.front(), half, from);
}

void read_answer(std::string_view input) {
  const auto in = message_in(input);
  switch (in.which % 8) {
  case 0:
    return take_batch(in.data, false);
  case 1:
    return take_neighbours(in.data, {2, draw_kind::without_replacement});
  case 2:
    take_neighbours(in.data, {-1, draw_kind::without_replacement});
    return take_neighbours_among(in.data);
  case 3:
    return take_values(in.data, false);
  case 4:
    return take_values(in.data, true);
  case 5:
    return take_batch(in.data, true);
  case 6:
    return take_neighbours(in.data, {2, draw_kind::without_replacement}, true);
  default:
    return take_sums(in.data);
  }
}

using long_list = std::vector<std::int64_t>;
using short_list = std::vector<std::int32_t>;

template <class T>
std::string answer_seed(std::size_t which, const T& from, bulk_writer arrays) {
  return input_of(which, encode(from, std::move(arrays)).value());
}

/// Two rows of two, for the asked places 2 and -1.
template <class T>
std::string rows_seed(std::size_t which, element type,
                      std::span<const T> values) {
  bulk_writer arrays;
  gather_reply reply;
  reply.values = {arrays.add(type, std::as_bytes(values)),
                  arrays.add_integers(long_list{2, -1})};
  return answer_seed(which, reply, std::move(arrays));
}

std::vector<std::string> answers() {
  std::vector<std::string> out;
  const auto weights = [](bulk_writer& arrays, std::vector<float> values) {
    return arrays.add(element::float32, std::as_bytes(std::span{values}));
  };
  for (const std::size_t which : {0u, 5u}) {
    bulk_writer arrays;
    batch_reply reply;
    reply.nodes.push_back({{2, 4, 5}, arrays.add_integers(long_list{1, 2, 3})});
    reply.edges.push_back({arrays.add_counts(short_list{2, 2, 1, 0}),
                           arrays.add_integers(long_list{1, 2, 2, 3, 4}),
                           arrays.add_integers(long_list{5, 6, 7, 8, 9})});
    if (which == 5)
      reply.edges[0].weights = weights(arrays, {0, 1, 0.5f, 2, 3});
    out.push_back(answer_seed(which, reply, std::move(arrays)));
  }
  for (const std::size_t which : {1u, 2u, 6u}) {
    bulk_writer arrays;
    sample_reply reply;
    reply.answers.push_back({arrays.add_counts(short_list{2, 1}),
                             arrays.add_integers(long_list{1, 2, 9}),
                             arrays.add_integers(long_list{5, 6, 40})});
    if (which == 6)
      reply.answers[0].weights = weights(arrays, {0, 1, 0.5f});
    out.push_back(answer_seed(which, reply, std::move(arrays)));
  }
  bulk_writer sums;
  gather_reply of_weights;
  of_weights.values = {weights(sums, {0, 2.5f})};
  out.push_back(answer_seed(7, of_weights, std::move(sums)));
  const std::array singles{0.5f, 1.5f, 2.5f, 3.5f};
  out.push_back(
    rows_seed(3, element::float32, std::span<const float>{singles}));
  const std::array<std::uint16_t, 4> halves{0x3c00, 0x4000, 0, 0x8000};
  out.push_back(
    rows_seed(4, element::float16, std::span<const std::uint16_t>{halves}));
  return out;
}

} // namespace

const harness answers_harness{"answers",
                              "answers of daemons, by those who have asked",
                              read_answer, answers, 20000};

} // namespace graphmill::fuzz
