#include "actors/remote/calls/prove_call.hpp"
#include "messages/base/random.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr part_id owner = 1;

/// A graph with features, labels and ids, in two parts; every third node is the
/// first part's.
struct scene {
  scene(std::uint64_t seed, std::int64_t nodes, std::int64_t width, bool half) {
    auto graph = cycle(nodes);
    random_stream draws{seed, 9};
    auto& type = graph.nodes[0];
    type.width = width;
    for (std::int64_t i = 0; i < nodes * width; ++i)
      type.features.push_back(draws.uniform() - 0.5F);
    assignment parts(1);
    for (std::int64_t i = 0; i < nodes; ++i) {
      type.labels.push_back(draws.below(5));
      parts[0].push_back(i % 3 == 0 ? 0 : 1);
    }
    data = cut(graph, 2, parts, {.half = half});
  }

  const shard& part() const { return *data.shards[owner]; }

  cut_graph data;
};

/// Features, labels and original ids of some nodes of the owner, as they are
/// after the answer of an honest one was taken.
struct fetched {
  fetched(const scene& from, std::uint64_t seed, bool half)
    : width(from.data.graph->info().node_types[0].feature_width) {
    random_stream draws{seed, 10};
    const auto begin = from.data.graph->offsets(0)[owner];
    const auto end = from.data.graph->offsets(0)[owner + 1];
    for (auto id = begin; id < end; ++id)
      if (draws.below(3) != 0)
        ids.push_back(id);
    for (auto i = ids.size(); i > 1; --i) {
      const auto other = draws.below(static_cast<std::uint32_t>(i));
      std::swap(ids[i - 1], ids[other]);
    }
    for (std::size_t i = 0; i < ids.size(); ++i)
      rows.push_back(static_cast<local_id>(ids.size() - 1 - i));
    features.resize(ids.size() * static_cast<std::size_t>(width));
    labels.resize(ids.size());
    originals.resize(ids.size());
    const auto& part = from.part();
    value_of(gather_features(part, 0, ids, rows, features.data(), half));
    const auto& nodes = part.nodes(0);
    gather_values(nodes.labels, nodes.begin, ids, rows, labels.data());
    gather_values(nodes.original_ids, nodes.begin, ids, {}, originals.data());
    call.of = std::make_shared<remote_gather>(nullptr);
    call.of->wanted.push_back(
      {0,
       ids,
       {{gather_kind::features, rows, features.data()},
        {gather_kind::labels, rows, labels.data()},
        {gather_kind::original_ids, {}, originals.data()}}});
    call.pieces.push_back({0, 0, ids.size()});
  }

  std::int64_t width;
  std::vector<node_id> ids;
  std::vector<local_id> rows;
  std::vector<float> features;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> originals;
  gather_call call;
};

/// What the owner answers.
payload answer_to(const scene& from, const prove_call& check) {
  const auto asked = value_of(check.encoded("run", owner));
  const auto request = value_of(decode_prove_request(asked));
  return value_of(answer_prove(
    from.part(), value_of(read_prove(from.part(), request, asked))));
}

payload with_flipped_bit(const payload& from, std::size_t byte, unsigned bit) {
  auto out = from;
  for (auto& part : out.bulk) {
    if (byte >= part.size()) {
      byte -= part.size();
      continue;
    }
    std::vector<std::byte> bytes{part.bytes().begin(), part.bytes().end()};
    bytes[byte] ^= std::byte{1} << bit;
    part = frame::copy(bytes);
    break;
  }
  return out;
}

template <class T>
void flip(std::vector<T>& values, random_stream& draws) {
  auto bytes = std::as_writable_bytes(std::span{values});
  bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] ^=
    std::byte{1} << draws.below(8);
}

} // namespace

CATCH_TEST_CASE("what an honest owner has sent is proved", "[actors][remote]") {
  for (const auto width : {1, 5, 700, 1500})
    for (const bool half : {false, true}) {
      CATCH_INFO("width " << width << ", half " << half);
      const scene from{1, 90, width, half};
      // Stored as float16, or rounded to it: the values are the same.
      const fetched got{from, 2, half};
      const row_audit all{1, 3};
      std::uint64_t values = 0;
      for (const auto& check :
           cut_checks(*from.data.graph, got.call, all, 4, 20'000)) {
        const auto answer = answer_to(from, check);
        CATCH_CHECK((answer.byte_size() < 21'000 || check.pieces.size() == 1));
        proof_fault fault{};
        values += value_of(
          check_proofs(*from.data.graph, owner, check, half, answer, fault));
      }
      CATCH_CHECK(values == 3 * got.ids.size());
    }
}

CATCH_TEST_CASE("rows that are rounded on the way are proved by whole ones",
                "[actors][remote]") {
  const scene from{1, 90, 5, false};
  for (const bool sent : {false, true})
    for (const bool wanted : {false, true}) {
      const fetched got{from, 2, sent};
      const row_audit all{1, 3};
      for (const auto& check :
           cut_checks(*from.data.graph, got.call, all, 4, 1 << 20)) {
        proof_fault fault{};
        const auto how = check_proofs(*from.data.graph, owner, check, wanted,
                                      answer_to(from, check), fault);
        CATCH_CHECK(how.has_value() == (sent == wanted));
      }
    }
}

CATCH_TEST_CASE("a flipped bit of a value that is checked is found",
                "[actors][remote]") {
  const scene from{5, 60, 7, false};
  const row_audit all{1, 3};
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 11};
    fetched got{from, seed, false};
    const auto checks =
      cut_checks(*from.data.graph, got.call, all, seed, 1 << 20);
    CATCH_REQUIRE(checks.size() == 1);
    const auto answer = answer_to(from, checks[0]);
    proof_fault fault{};
    value_of(
      check_proofs(*from.data.graph, owner, checks[0], false, answer, fault));
    if (seed % 3 == 0)
      flip(got.features, draws);
    else if (seed % 3 == 1)
      flip(got.labels, draws);
    else
      flip(got.originals, draws);
    const auto found = error_of(
      check_proofs(*from.data.graph, owner, checks[0], false, answer, fault));
    CATCH_CHECK(found.code == ec::invalid_data);
    CATCH_CHECK(fault == proof_fault::values);
    CATCH_CHECK(found.message.find("that it sent is not in the dataset")
                != std::string::npos);
  }
}

CATCH_TEST_CASE("a proof with a flipped bit proves nothing",
                "[actors][remote]") {
  // Widths of 8 leave no bytes between arrays, where a flip would do nothing.
  const scene from{5, 2000, 8, false};
  const fetched got{from, 1, false};
  const row_audit few{0.004, 3};
  const auto checks = cut_checks(*from.data.graph, got.call, few, 1, 1 << 20);
  CATCH_REQUIRE(checks.size() == 1);
  const auto answer = answer_to(from, checks[0]);
  std::size_t size = 0;
  for (const auto& part : answer.bulk)
    size += part.size();
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 12};
    const auto forged = with_flipped_bit(
      answer, draws.below(static_cast<std::uint32_t>(size)), draws.below(8));
    proof_fault fault{};
    CATCH_CHECK_FALSE(
      check_proofs(*from.data.graph, owner, checks[0], false, forged, fault));
    CATCH_CHECK(fault == proof_fault::proof);
  }
  auto none = answer;
  none.bulk.clear();
  proof_fault fault{};
  CATCH_CHECK_FALSE(
    check_proofs(*from.data.graph, owner, checks[0], false, none, fault));
}

CATCH_TEST_CASE("an audit picks its share, by batch, and again the same",
                "[actors][remote]") {
  const row_audit some{0.01, 7};
  const row_audit stranger{0.01, 8};
  const auto picked = [](const row_audit& by, std::uint64_t batch) {
    std::vector<node_id> out;
    for (node_id id = 0; id < 100'000; ++id)
      if (by.picks(batch, 1, gather_kind::features, id))
        out.push_back(id);
    return out;
  };
  const auto first = picked(some, 1);
  CATCH_CHECK(first.size() > 850);
  CATCH_CHECK(first.size() < 1150);
  CATCH_CHECK(picked(some, 1) == first);
  CATCH_CHECK(picked(some, 2) != first);
  CATCH_CHECK(picked(stranger, 1) != first);
  CATCH_CHECK(picked(row_audit{0, 7}, 1).empty());
  CATCH_CHECK(picked(row_audit{1, 7}, 1).size() == 100'000);
  CATCH_CHECK_FALSE(picked(row_audit{1e-9, 7}, 1).size() > 2);
}

CATCH_TEST_CASE("proofs that make no sense are refused", "[actors][remote]") {
  const scene from{1, 3000, 3, false};
  const auto refused = [&from](node_type_id type, gather_kind kind,
                               const std::vector<std::int64_t>& blocks) {
    bulk_writer arrays;
    prove_request request{"run", owner, {}};
    request.queries.push_back({type, kind, arrays.add_integers(blocks)});
    const auto message = value_of(encode(request, std::move(arrays)));
    return !read_prove(from.part(), value_of(decode_prove_request(message)),
                       message);
  };
  // 2000 rows of 12 bytes are in 6 blocks, and of 8 bytes in 4.
  CATCH_CHECK_FALSE(refused(0, gather_kind::features, {0, 3, 5}));
  CATCH_CHECK(refused(0, gather_kind::features, {6}));
  CATCH_CHECK(refused(0, gather_kind::features, {-1}));
  CATCH_CHECK(refused(0, gather_kind::features, {1, 1}));
  CATCH_CHECK(refused(0, gather_kind::features, {2, 1}));
  CATCH_CHECK_FALSE(refused(0, gather_kind::labels, {3}));
  CATCH_CHECK(refused(0, gather_kind::labels, {4}));
  CATCH_CHECK(refused(0, gather_kind::degrees, {0}));
  CATCH_CHECK(refused(1, gather_kind::features, {0}));
  CATCH_CHECK(refused(-1, gather_kind::features, {0}));
}
