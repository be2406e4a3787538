#include "actors/remote/calls/gather_call.hpp"
#include "actors/remote/calls/sampling_call.hpp"
#include "messages/base/random.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/id_table.hpp"
#include "tests/actors/remote/calls/one_type.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <memory>
#include <numeric>

using namespace graphmill;
using namespace graphmill::test;

namespace {

dataset_info info_of(std::int64_t width, dtype type = dtype::float32) {
  auto info = one_type_info(100, 500, 20);
  auto& nodes = info.node_types[0];
  nodes.feature_width = width;
  nodes.feature_type = type;
  nodes.class_count = 3;
  return info;
}

/// A job about 10 nodes with memory of exactly the size that it needs.
struct gathering {
  explicit gathering(std::int64_t width)
    : width(static_cast<std::size_t>(width)),
      features(new float[10 * this->width]), labels(new std::int64_t[10]),
      degrees(new std::int32_t[10]),
      job(std::make_shared<remote_gather>(nullptr)) {
    std::iota(ids.begin(), ids.end(), 50);
    job->wanted.push_back({0,
                           ids,
                           {{gather_kind::features, rows, features.get()},
                            {gather_kind::labels, rows, labels.get()},
                            {gather_kind::degrees, rows, degrees.get()}}});
  }

  std::size_t width;
  std::vector<node_id> ids = std::vector<node_id>(10);
  std::vector<local_id> rows{9, 8, 7, 6, 5, 0, 1, 2, 3, 4};
  std::unique_ptr<float[]> features;
  std::unique_ptr<std::int64_t[]> labels;
  std::unique_ptr<std::int32_t[]> degrees;
  std::shared_ptr<remote_gather> job;
};

/// The right answer about rows [from, from + count).
payload answer_to(const gather_call::piece& piece, std::size_t width,
                  bool half) {
  bulk_writer arrays;
  std::vector<float> rows;
  std::vector<std::int64_t> labels;
  std::vector<std::int32_t> degrees;
  for (std::size_t i = piece.from; i < piece.from + piece.count; ++i) {
    for (std::size_t f = 0; f < width; ++f)
      rows.push_back(static_cast<float>(i * 100 + f));
    labels.push_back(static_cast<std::int64_t>(i % 4) - 1);
    degrees.push_back(static_cast<std::int32_t>(i));
  }
  gather_reply reply;
  if (half) {
    std::vector<std::uint16_t> halves(rows.size());
    std::transform(rows.begin(), rows.end(), halves.begin(), to_half);
    reply.values.push_back(
      arrays.add(element::float16, std::as_bytes(std::span{halves})));
  } else {
    reply.values.push_back(
      arrays.add(element::float32, std::as_bytes(std::span{rows})));
  }
  reply.values.push_back(arrays.add_integers(labels));
  reply.values.push_back(arrays.add_counts(degrees));
  return value_of(encode(reply, std::move(arrays)));
}

void spoil(payload& message, random_stream& draws) {
  const auto which = draws.below(3);
  auto& part = which == 0 ? message.bulk.at(0) : message.body;
  std::vector<std::byte> bytes{part.bytes().begin(), part.bytes().end()};
  for (std::uint32_t i = 0; i < 1 + draws.below(3); ++i)
    bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] =
      static_cast<std::byte>(draws.below(256));
  part = frame::copy(bytes);
}

} // namespace

CATCH_TEST_CASE("a job is cut into calls and its rows land where they belong",
                "[actors][remote]") {
  for (auto half : {false, true})
    for (std::int64_t width : {1, 3, 200'000, 400'000}) {
      CATCH_INFO("width " << width << ", half " << half);
      const auto info = info_of(width);
      gathering g{width};
      const auto row = static_cast<std::uint64_t>(width) * (half ? 2 : 4);
      const auto calls = cut_calls(info, g.job, 3 * (row + 12) + 1, half);
      CATCH_REQUIRE(calls.size() == 4);
      for (const auto& call : calls) {
        CATCH_REQUIRE(call.pieces.size() == 1);
        CATCH_CHECK(call.pieces[0].count <= 3);
        const auto in = value_of(
          scatter(info, call, half, answer_to(call.pieces[0], g.width, half)));
        CATCH_CHECK(in.rows == call.pieces[0].count);
        CATCH_CHECK(in.features == in.rows * row);
      }
      CATCH_CHECK(g.job->bytes == 10 * (g.width * 4 + 12));
      auto right = true;
      for (std::size_t i = 0; i < 10; ++i) {
        const auto to = static_cast<std::size_t>(g.rows[i]);
        for (std::size_t f = 0; f < g.width; ++f) {
          const auto sent = static_cast<float>(i * 100 + f);
          right &= g.features[to * g.width + f]
                   == (half ? from_half(to_half(sent)) : sent);
        }
        right &= g.labels[to] == static_cast<std::int64_t>(i % 4) - 1;
        right &= g.degrees[to] == static_cast<std::int32_t>(i);
      }
      CATCH_CHECK(right);
    }
}

CATCH_TEST_CASE("rows of edges land where they belong, or nowhere",
                "[actors][remote][edge_features]") {
  for (const auto half : {false, true}) {
    CATCH_INFO("half " << half);
    auto info = info_of(3);
    info.edge_types[0].feature_width = 2;
    const std::vector<edge_id> places{8, 1, 8, 5, 0};
    const std::vector<local_id> rows{4, 3, 2, 1, 0};
    std::vector<float> out(10);
    const auto job = std::make_shared<remote_gather>(nullptr);
    job->wanted.push_back(
      {.type = 0,
       .ids = places,
       .targets = {{gather_kind::edge_features, rows, out.data()}},
       .of_edges = true});
    const auto calls = cut_calls(info, job, half ? 9 : 17, half);
    CATCH_REQUIRE(calls.size() == 3);
    for (const auto& call : calls) {
      const auto& piece = call.pieces.at(0);
      const auto answer = [&](std::size_t values) {
        std::vector<float> sent;
        for (std::size_t i = 0; i < values; ++i)
          sent.push_back(static_cast<float>(piece.from * 2 + i));
        std::vector<std::uint16_t> halves(sent.size());
        std::transform(sent.begin(), sent.end(), halves.begin(), to_half);
        bulk_writer arrays;
        gather_reply reply;
        reply.values.push_back(
          half ? arrays.add(element::float16, std::as_bytes(std::span{halves}))
               : arrays.add(element::float32, std::as_bytes(std::span{sent})));
        return value_of(encode(reply, std::move(arrays)));
      };
      CATCH_CHECK_FALSE(scatter(info, call, half, answer(2 * piece.count - 1)));
      CATCH_CHECK_FALSE(scatter(info, call, half, answer(2 * piece.count + 1)));
      CATCH_CHECK_FALSE(scatter(info, call, !half, answer(2 * piece.count)));
      CATCH_CHECK(scatter(info, call, half, answer(2 * piece.count)));
      std::uint64_t ids = 0;
      const auto asked = value_of(call.encoded("run", 0, half, ids));
      const auto query = value_of(decode_gather_request(asked)).queries.at(0);
      CATCH_CHECK(query.edge_type == 0);
      CATCH_CHECK(query.ids.count == piece.count);
    }
    CATCH_CHECK(out == std::vector<float>{8, 9, 6, 7, 4, 5, 2, 3, 0, 1});
    CATCH_CHECK(job->bytes == 5 * 2 * sizeof(float));
  }
}

CATCH_TEST_CASE("rows are as exact as was agreed", "[actors][remote]") {
  gathering g{3};
  const auto send = [&g](const dataset_info& info, bool half, bool sent_half) {
    const auto calls = cut_calls(info, g.job, 1 << 20, half);
    return !!scatter(info, calls.at(0), half,
                     answer_to(calls[0].pieces[0], 3, sent_half));
  };
  CATCH_CHECK(send(info_of(3), false, false));
  CATCH_CHECK(!send(info_of(3), false, true));
  CATCH_CHECK(!send(info_of(3), true, false));
  CATCH_CHECK(send(info_of(3, dtype::float16), false, true));
}

CATCH_TEST_CASE("spoilt rows are refused or stay in their place",
                "[actors][remote]") {
  const auto info = info_of(3);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 0};
    gathering g{3};
    const auto calls = cut_calls(info, g.job, 1 << 20, false);
    auto message = answer_to(calls.at(0).pieces[0], 3, false);
    spoil(message, draws);
    const auto got = scatter(info, calls[0], false, message);
    if (!got) {
      CATCH_CHECK(got.error().code == ec::invalid_data);
      continue;
    }
    for (std::size_t i = 0; i < 10; ++i) {
      CATCH_CHECK((g.labels[i] >= -1 && g.labels[i] < 3));
      CATCH_CHECK(g.degrees[i] >= 0);
    }
  }
}

CATCH_TEST_CASE("spoilt neighbours are refused or make sense",
                "[actors][remote]") {
  const auto info = info_of(3);
  const std::vector<node_id> ids{1, 2, 3, 4};
  neighbour_request request{1, 1, 0, {3}, true, ids, true};
  request.ages = true;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 1};
    bulk_writer arrays;
    const std::vector<std::int32_t> counts{3, 0, 2, 1};
    const std::vector<std::int64_t> sources{5, 6, 7, 99, 0, 2};
    const std::vector<float> weights{0, 1, 2, 3, 4, 0.5f};
    const std::vector<float> ages{7, 0, 1e6f, 3, 2, 0};
    sample_reply reply;
    reply.answers.push_back(
      {arrays.add_counts(counts),
       arrays.add_integers(sources),
       arrays.add_integers(sources),
       arrays.add(element::float32, std::as_bytes(std::span{weights})),
       {},
       arrays.add(element::float32, std::as_bytes(std::span{ages}))});
    auto message = value_of(encode(reply, std::move(arrays)));
    if (seed != 0)
      spoil(message, draws);
    const sampling_piece piece{
      std::make_shared<remote_sampling>(request, nullptr), 0, 4};
    const auto decoded = decode_sample_reply(message);
    if (!decoded || decoded.value().answers.size() != 1)
      continue;
    const auto next =
      accept_piece(info, piece, decoded.value().answers[0], message, nullptr);
    CATCH_CHECK((next || seed != 0));
    CATCH_CHECK(piece.of->answered == (next ? 4 : 0));
    if (!next)
      continue;
    CATCH_CHECK(!next.value());
    const auto in = piece.of->take();
    CATCH_CHECK(in.counts.size() == 4);
    CATCH_CHECK(in.sources.size() == in.edge_ids.size() * 4);
    CATCH_CHECK(in.weights.size() == in.edge_ids.size());
    CATCH_CHECK(in.ages.size() == in.edge_ids.size());
    if (seed == 0) {
      CATCH_CHECK(std::vector(in.weights.begin(), in.weights.end()) == weights);
      CATCH_CHECK(std::vector(in.ages.begin(), in.ages.end()) == ages);
    }
    const auto* first =
      reinterpret_cast<const std::int32_t*>(in.sources.data());
    for (std::size_t i = 0; i < in.edge_ids.size(); ++i)
      CATCH_CHECK((first[i] >= 0 && first[i] < 100));
  }
}

CATCH_TEST_CASE("all in-edges are asked for among nodes that are too many",
                "[actors][remote][subgraphs]") {
  const auto info = info_of(3);
  const std::vector<node_id> ids{1, 2, 3};
  const std::vector<node_id> all{2, 9, 4};
  pod_vector<node_id> known;
  id_table numbers{100, nullptr};
  std::vector<local_id> locals(all.size());
  numbers.number(std::span{all}, locals.data(), known);
  const node_subset among{0, &known, &numbers};
  neighbour_request request{1, 2, 0, {-1}, true, ids, true};
  request.ages = true;
  request.among = &among;
  std::uint64_t bytes = 0;
  const auto asked = [&](const std::shared_ptr<remote_sampling>& job) {
    return value_of(decode_sample_request(
      value_of(sampling_call{{{job, 0, 3}}}.encoded("run", 0, bytes))));
  };
  const auto named = std::make_shared<remote_sampling>(request, nullptr, 3);
  CATCH_CHECK(asked(named).queries[0].among);
  CATCH_REQUIRE(asked(named).among.size() == 1);
  CATCH_CHECK(asked(named).among[0].count == 3);
  const auto job = std::make_shared<remote_sampling>(request, nullptr, 2);
  CATCH_CHECK(!asked(job).queries[0].among);
  CATCH_CHECK(asked(job).among.empty());
  CATCH_CHECK(asked(job).queries[0].rule.takes_all());
  // One answer about two of them, and the list of the third in two slices.
  const auto take = [&](sampling_piece piece, std::vector<std::int32_t> counts,
                        const std::vector<std::int64_t>& sources,
                        std::int64_t first) {
    std::vector<std::int64_t> edges(sources.size());
    std::iota(edges.begin(), edges.end(), first);
    const std::vector<float> values(edges.begin(), edges.end());
    const auto floats = std::as_bytes(std::span{values});
    bulk_writer arrays;
    sample_reply reply;
    reply.answers.push_back({arrays.add_counts(counts),
                             arrays.add_integers(sources),
                             arrays.add_integers(edges),
                             arrays.add(element::float32, floats),
                             {},
                             arrays.add(element::float32, floats)});
    const auto message = value_of(encode(reply, std::move(arrays)));
    const auto decoded = value_of(decode_sample_reply(message));
    return value_of(
      accept_piece(info, piece, decoded.answers[0], message, nullptr));
  };
  const auto next = take({job, 2, 1, 2, 0}, {4}, {9, 5}, 30);
  CATCH_REQUIRE(next);
  CATCH_CHECK(next->skip == 2);
  CATCH_CHECK(!take({job, 0, 2}, {3, 2}, {2, 3, 9, 1, 4}, 10));
  CATCH_CHECK(!job->complete());
  CATCH_CHECK(!take(*next, {4}, {4, 9}, 32));
  CATCH_REQUIRE(job->complete());
  const auto got = job->take();
  const auto* sources =
    reinterpret_cast<const std::int32_t*>(got.sources.data());
  const std::vector<edge_id> edges{10, 12, 14, 30, 32, 33};
  CATCH_CHECK(std::vector(got.counts.begin(), got.counts.end())
              == std::vector<std::int32_t>{2, 1, 3});
  CATCH_REQUIRE(got.sources.size() == 4 * edges.size());
  CATCH_CHECK(std::vector(sources, sources + edges.size())
              == std::vector<std::int32_t>{2, 9, 4, 9, 4, 9});
  CATCH_CHECK(std::vector(got.edge_ids.begin(), got.edge_ids.end()) == edges);
  const std::vector<float> values(edges.begin(), edges.end());
  CATCH_CHECK(std::vector(got.weights.begin(), got.weights.end()) == values);
  CATCH_CHECK(std::vector(got.ages.begin(), got.ages.end()) == values);
}

CATCH_TEST_CASE("neighbour requests are cut by the likely size of answers",
                "[actors][remote]") {
  const auto info = info_of(3);
  std::vector<node_id> ids(1000, 1);
  std::vector<std::shared_ptr<remote_sampling>> jobs;
  for (int i = 0; i < 3; ++i)
    jobs.push_back(std::make_shared<remote_sampling>(
      neighbour_request{1, 1, 0, {4}, false, ids}, nullptr));
  // 17 bytes per destination.
  CATCH_CHECK(cut_calls(info, jobs, 17 * 3000).size() == 1);
  const auto calls = cut_calls(info, jobs, 17 * 700);
  CATCH_CHECK(calls.size() == 5);
  std::size_t sum = 0;
  for (const auto& call : calls) {
    std::size_t of_call = 0;
    for (const auto& piece : call.pieces)
      of_call += piece.count;
    CATCH_CHECK(of_call <= 700);
    sum += of_call;
  }
  CATCH_CHECK(sum == 3000);
  const auto halves = calls[1].smaller(1600);
  CATCH_REQUIRE(halves.size() == 2);
  CATCH_CHECK(halves[0].pieces[0].from == calls[1].pieces[0].from);
  // Of a single destination, a slice of 8 bytes a source; of a slice, nothing.
  const sampling_call single{{{jobs[0], 5, 1}}};
  const auto slices = single.smaller(1600);
  CATCH_REQUIRE(slices.size() == 1);
  CATCH_CHECK(slices[0].pieces[0].from == 5);
  CATCH_CHECK(slices[0].pieces[0].most == 200);
  CATCH_CHECK(slices[0].pieces[0].skip == 0);
  CATCH_CHECK(slices[0].smaller(800).empty());
  // Weights are 4 bytes more for each source.
  for (auto& job : jobs)
    job = std::make_shared<remote_sampling>(
      neighbour_request{1, 1, 0, {4}, false, ids, true}, nullptr);
  CATCH_CHECK(cut_calls(info, jobs, 33 * 3000).size() == 1);
  CATCH_CHECK(cut_calls(info, jobs, 33 * 700).size() == 5);
  const sampling_call weighed{{{jobs[0], 5, 1}}};
  CATCH_CHECK(weighed.smaller(1200)[0].pieces[0].most == 100);
  // So are ages, and pieces ask for them.
  auto aged = neighbour_request{1, 1, 0, {4}, false, ids};
  aged.ages = true;
  const auto job = std::make_shared<remote_sampling>(aged, nullptr);
  CATCH_CHECK(cut_calls(info, {{job}}, 33 * 1000).size() == 1);
  CATCH_CHECK(cut_calls(info, {{job}}, 33 * 700).size() == 2);
  std::uint64_t bytes = 0;
  const auto asked = value_of(decode_sample_request(
    value_of(sampling_call{{{job, 5, 1}}}.encoded("run", 0, bytes))));
  CATCH_CHECK(asked.queries[0].ages);
}
