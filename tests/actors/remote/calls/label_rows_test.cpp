#include "actors/remote/calls/gather_call.hpp"
#include "actors/remote/calls/prove_call.hpp"
#include "messages/base/random.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/actors/remote/calls/one_type.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::size_t label_width = 7;

dataset_info info_with_labels() {
  auto info = one_type_info(100, 500, 20);
  info.node_types[0].class_count = label_width;
  info.node_types[0].labels = label_kind::multi_label;
  return info;
}

/// Of every fifth node nothing is known.
std::uint8_t label_of_node(std::size_t node, std::size_t label) {
  return node % 5 == 0 ? no_labels
                       : static_cast<std::uint8_t>((node + label) % 2);
}

/// A job about the labels of nodes 50 to 59, which go to rows from the end.
struct label_job {
  label_job() {
    std::iota(ids.begin(), ids.end(), 50);
    for (std::size_t i = 0; i < ids.size(); ++i)
      rows.push_back(static_cast<local_id>(ids.size() - 1 - i));
    job->wanted.push_back({0, ids, {{gather_kind::labels, rows, got.data()}}});
  }

  std::vector<node_id> ids = std::vector<node_id>(10);
  std::vector<local_id> rows;
  std::vector<std::uint8_t> got = std::vector<std::uint8_t>(10 * label_width);
  std::shared_ptr<remote_gather> job = std::make_shared<remote_gather>(nullptr);
};

payload labels_for(const gather_call::piece& piece,
                   element type = element::uint8) {
  std::vector<std::uint8_t> values;
  for (std::size_t i = piece.from; i < piece.from + piece.count; ++i)
    for (std::size_t c = 0; c < label_width; ++c)
      values.push_back(label_of_node(50 + i, c));
  bulk_writer arrays;
  gather_reply reply;
  if (type == element::uint8) {
    reply.values.push_back(
      arrays.add(element::uint8, std::as_bytes(std::span{values})));
  } else {
    const std::vector<std::int64_t> wide(values.begin(), values.end());
    reply.values.push_back(arrays.add_integers(wide));
  }
  return value_of(encode(reply, std::move(arrays)));
}

} // namespace

CATCH_TEST_CASE("rows of labels land where they belong", "[actors][remote]") {
  const auto info = info_with_labels();
  label_job wanted;
  const auto calls = cut_calls(info, wanted.job, 3 * label_width + 1, false);
  CATCH_REQUIRE(calls.size() == 4);
  for (const auto& call : calls) {
    const auto in =
      value_of(scatter(info, call, false, labels_for(call.pieces.at(0))));
    CATCH_CHECK(in.values == call.pieces[0].count * label_width);
  }
  CATCH_CHECK(wanted.job->bytes == 10 * label_width);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t c = 0; c < label_width; ++c)
      CATCH_CHECK(wanted.got[(9 - i) * label_width + c]
                  == label_of_node(50 + i, c));
}

CATCH_TEST_CASE("rows that are no labels are refused", "[actors][remote]") {
  const auto info = info_with_labels();
  label_job wanted;
  const auto call = cut_calls(info, wanted.job, 1 << 20, false).at(0);
  const auto send = [&](const payload& answer) {
    return !!scatter(info, call, false, answer);
  };
  CATCH_CHECK(send(labels_for(call.pieces[0])));
  CATCH_CHECK_FALSE(send(labels_for(call.pieces[0], element::int32)));
  CATCH_CHECK_FALSE(send(labels_for({0, 0, 9})));
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 0};
    auto message = labels_for(call.pieces[0]);
    auto& part = draws.below(2) == 0 ? message.bulk.at(0) : message.body;
    std::vector<std::byte> bytes{part.bytes().begin(), part.bytes().end()};
    bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] =
      static_cast<std::byte>(draws.below(256));
    part = frame::copy(bytes);
    if (!send(message))
      continue;
    for (std::size_t i = 0; i < wanted.got.size(); ++i) {
      const auto first = wanted.got[i / label_width * label_width];
      CATCH_CHECK(
        (first == no_labels ? wanted.got[i] == no_labels : wanted.got[i] <= 1));
    }
  }
}

CATCH_TEST_CASE("rows of numbers come as their bytes, or are refused",
                "[actors][remote]") {
  auto info = info_with_labels();
  info.node_types[0].class_count = 2;
  info.node_types[0].labels = label_kind::regression;
  const std::vector<node_id> ids{50, 51};
  const std::vector<local_id> rows{1, 0};
  std::vector<std::uint8_t> got(2 * 2 * sizeof(float));
  const auto job = std::make_shared<remote_gather>(nullptr);
  job->wanted.push_back({0, ids, {{gather_kind::labels, rows, got.data()}}});
  const auto call = cut_calls(info, job, 1 << 20, false).at(0);
  const auto send = [&](const std::vector<float>& values) {
    const auto bytes = rows_of_values(values);
    bulk_writer arrays;
    gather_reply reply;
    reply.values.push_back(
      arrays.add(element::uint8, std::as_bytes(std::span{bytes})));
    return !!scatter(info, call, false,
                     value_of(encode(reply, std::move(arrays))));
  };
  CATCH_CHECK(send({1, 2.5f, no_value, no_value}));
  CATCH_CHECK(got == rows_of_values({no_value, no_value, 1, 2.5f}));
  CATCH_CHECK_FALSE(send({1, no_value, 3, 4}));
  CATCH_CHECK_FALSE(send({1, 2, std::numeric_limits<float>::infinity(), 4}));
  CATCH_CHECK_FALSE(send({1, 2, 3}));
}

CATCH_TEST_CASE("rows of labels are proved", "[actors][remote]") {
  auto graph = cycle(90);
  auto& type = graph.nodes[0];
  type.label_width = label_width;
  assignment parts(1);
  for (std::size_t i = 0; i < 90; ++i) {
    for (std::size_t c = 0; c < label_width; ++c)
      type.label_rows.push_back(label_of_node(i, c));
    parts[0].push_back(i % 3 == 0 ? 0 : 1);
  }
  const auto data = cut(graph, 2, parts);
  const auto& part = *data.shards[1];
  const auto begin = data.graph->offsets(0)[1];
  std::vector<node_id> ids(20);
  std::iota(ids.begin(), ids.end(), begin + 11);
  std::vector<std::uint8_t> got(ids.size() * label_width);
  gather_label_rows(part.nodes(0).label_rows, label_width, begin, ids, {},
                    got.data());
  for (std::size_t i = 0; i < ids.size(); ++i)
    CATCH_CHECK(
      got[i * label_width + 2]
      == label_of_node(static_cast<std::size_t>(
                         data.original[0][static_cast<std::size_t>(ids[i])]),
                       2));
  gather_call call;
  call.of = std::make_shared<remote_gather>(nullptr);
  call.of->wanted.push_back({0, ids, {{gather_kind::labels, {}, got.data()}}});
  call.pieces.push_back({0, 0, ids.size()});
  const row_audit all{1, 3};
  const auto checks = cut_checks(*data.graph, call, all, 4, 1 << 20);
  CATCH_REQUIRE(checks.size() == 1);
  const auto asked = value_of(checks[0].encoded("run", 1));
  const auto answer = value_of(answer_prove(
    part,
    value_of(read_prove(part, value_of(decode_prove_request(asked)), asked))));
  proof_fault fault{};
  CATCH_CHECK(
    value_of(check_proofs(*data.graph, 1, checks[0], false, answer, fault))
    == ids.size());
  got[5 * label_width + 6] ^= 1; // The last label of a row.
  CATCH_CHECK(
    error_of(check_proofs(*data.graph, 1, checks[0], false, answer, fault)).code
    == ec::invalid_data);
  CATCH_CHECK(fault == proof_fault::values);
}
