#include "messages/base/random.hpp"
#include "messages/wire/data.hpp"
#include "tests/messages/wire/numbers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace graphmill;
using namespace graphmill::test;

namespace {

payload sample_of(const std::vector<numbers>& lists) {
  bulk_writer arrays;
  sample_request request{"run-1", 3, 77, 2, {}};
  for (const auto& ids : lists)
    request.queries.push_back(
      {static_cast<edge_type_id>(request.queries.size()),
       {5, draw_kind::with_replacement},
       false,
       arrays.add_integers(ids)});
  request.queries.back().excluded = {
    arrays.add_integers(numbers{1, 2}),
    arrays.add_counts(std::vector<std::int32_t>{1, 2}),
    arrays.add_integers(numbers{7, 3, 9})};
  request.queries.back().level = 1;
  request.among = {arrays.add_integers(numbers{4, 2}), {}};
  return value_of(encode(request, std::move(arrays)));
}

/// Everything that a decoder might do with a message from outside.
template <class Decode>
void digest(const payload& from, Decode decode) {
  auto got = decode(from);
  if (!got) {
    CATCH_CHECK(!got.error().message.empty());
    return;
  }
  std::uint64_t claimed = 0;
  const auto use = [&from, &claimed](const bulk_array& array) {
    claimed += array.byte_size();
    if (is_integer(array.type))
      read(array, from);
    std::uint64_t visited = 0;
    for_each_piece(array, from.bulk, [&visited](std::span<const std::byte> in) {
      visited += in.size();
    });
    CATCH_CHECK(visited == array.byte_size());
  };
  if constexpr (requires { got.value().values; })
    for (const auto& array : got.value().values)
      use(array);
  else if constexpr (requires { got.value().chances; })
    use(got.value().chances);
  else if constexpr (requires { got.value().misses; })
    for (const auto& array : {got.value().sources, got.value().misses})
      use(array);
  else if constexpr (requires { got.value().proofs; })
    for (const auto& proof : got.value().proofs)
      for (const auto& array : {proof.content, proof.digests})
        use(array);
  else if constexpr (requires { got.value().seeds; }) {
    use(got.value().seeds);
    for (const auto& ids : got.value().seeds_by_type)
      use(ids);
    for (const auto& excluded : got.value().excluded)
      for (const auto& array : {excluded.at, excluded.counts, excluded.edges})
        use(array);
  } else if constexpr (requires { got.value().nodes; }) {
    for (const auto& list : got.value().nodes) {
      CATCH_CHECK(std::is_sorted(list.found.begin(), list.found.end()));
      use(list.ids);
    }
    for (const auto& list : got.value().edges)
      for (const auto& array : {list.counts, list.sources, list.edge_ids,
                                list.weights, list.places, list.ages})
        use(array);
  } else if constexpr (requires { got.value().answers; })
    for (const auto& answer : got.value().answers)
      for (const auto& array : {answer.counts, answer.sources, answer.edge_ids,
                                answer.weights, answer.places, answer.ages})
        use(array);
  else
    for (const auto& query : got.value().queries) {
      if constexpr (requires { query.excluded.at; })
        for (const auto& array :
             {query.excluded.at, query.excluded.counts, query.excluded.edges})
          use(array);
      if constexpr (requires { query.kinds; })
        for (const auto& excluded : query.excluded)
          for (const auto& array :
               {excluded.at, excluded.counts, excluded.edges})
            use(array);
      if constexpr (requires { query.destinations; })
        use(query.destinations);
      else if constexpr (requires { query.blocks; })
        use(query.blocks);
      else
        use(query.ids);
    }
  if constexpr (requires { got.value().among; })
    for (const auto& ids : got.value().among)
      use(ids);
  std::uint64_t brought = 0;
  for (const auto& part : from.bulk)
    brought += part.size();
  CATCH_CHECK(claimed <= brought);
}

void digest_all(const payload& from) {
  digest(from, decode_sample_request);
  digest(from, decode_sample_reply);
  digest(from, decode_gather_request);
  digest(from, decode_gather_reply);
  digest(from, decode_batch_request);
  digest(from, decode_batch_reply);
  digest(from, decode_spread_request);
  digest(from, decode_spread_reply);
  digest(from, decode_prove_request);
  digest(from, decode_prove_reply);
}

std::vector<payload> examples() {
  const numbers ids{5, 9, 1, 1'000'000};
  std::vector<payload> out{sample_of({ids, {}, {7}})};
  bulk_writer arrays;
  const std::vector<std::int32_t> counts{1, 2, 0, 300};
  sample_reply reply;
  const std::vector<float> weights{0, 0.5F, 1, 2};
  reply.answers.push_back(
    {arrays.add_counts(counts), arrays.add_integers(ids),
     arrays.add_integers(ids),
     arrays.add(element::float32, std::as_bytes(std::span{weights}))});
  out.push_back(value_of(encode(reply, std::move(arrays))));
  arrays = {};
  gather_request gather{"run", 0, {}};
  gather.queries.push_back({1,
                            arrays.add_integers(ids),
                            {gather_kind::features, gather_kind::degrees},
                            true});
  gather.queries.back().level = 0;
  gather.queries.back().excluded = {{},
                                    {arrays.add_integers(ids),
                                     arrays.add_counts(counts),
                                     arrays.add_integers(ids)}};
  out.push_back(value_of(encode(gather, std::move(arrays))));
  arrays = {};
  const std::vector<float> rows(12, 0.5F);
  gather_reply values;
  values.values = {arrays.add(element::float32, std::as_bytes(std::span{rows})),
                   arrays.add_integers(ids)};
  out.push_back(value_of(encode(values, std::move(arrays))));
  arrays = {};
  const batch_request batch{"run", 8, batch_kind::train,
                            arrays.add_integers(ids),
                            batch_key{phase::test, 1, 2, 3}};
  out.push_back(value_of(encode(batch, std::move(arrays))));
  arrays = {};
  batch_reply sampled;
  sampled.nodes.push_back({{1, 1, 5}, arrays.add_integers(ids)});
  sampled.edges.push_back(
    {arrays.add_counts(counts), arrays.add_integers(ids),
     arrays.add_integers(ids),
     arrays.add(element::float32, std::as_bytes(std::span{weights}))});
  out.push_back(value_of(encode(sampled, std::move(arrays))));
  arrays = {};
  spread_request query{"run", 1, 2, {10, draw_kind::with_replacement},
                       100,   3, {}};
  query.chances = arrays.add(element::float32, std::as_bytes(std::span{rows}));
  out.push_back(value_of(encode(query, std::move(arrays))));
  arrays = {};
  spread_reply answer{12, 0, arrays.add_integers(ids), {}};
  answer.misses =
    arrays.add(element::float32, std::as_bytes(std::span{rows}.first(4)));
  out.push_back(value_of(encode(answer, std::move(arrays))));
  arrays = {};
  prove_request doubt{"run", 2, {}};
  doubt.queries.push_back({1, gather_kind::labels, arrays.add_integers(ids)});
  out.push_back(value_of(encode(doubt, std::move(arrays))));
  arrays = {};
  prove_reply proofs;
  proofs.proofs.push_back(
    {arrays.add(element::uint8, std::as_bytes(std::span{rows})),
     arrays.add(element::uint8, std::as_bytes(std::span{rows}.first(8)))});
  out.push_back(value_of(encode(proofs, std::move(arrays))));
  arrays = {};
  batch_request around{"run", 8, batch_kind::train, {}};
  around.seeds_by_type = {
    arrays.add_integers(ids), {}, arrays.add_integers(ids)};
  around.excluded = {{arrays.add_integers(ids), arrays.add_counts(counts),
                      arrays.add_integers(ids)},
                     {}};
  out.push_back(value_of(encode(around, std::move(arrays))));
  return out;
}

} // namespace

CATCH_TEST_CASE("messages about chances come back as they were",
                "[messages][data]") {
  // More than a frame, so that an array is read piece by piece.
  std::vector<float> chances(300'000);
  std::iota(chances.begin(), chances.end(), 0.0F);
  bulk_writer arrays;
  spread_request query{
    "run-1", 3, 4, {-1, draw_kind::with_replacement}, std::int64_t{1} << 40,
    7,       {}};
  query.chances =
    arrays.add(element::float32, std::as_bytes(std::span{chances}));
  const auto sent = value_of(encode(query, std::move(arrays)));
  CATCH_CHECK(sent.bulk.size() == 2);
  const auto got = value_of(decode_spread_request(sent));
  CATCH_CHECK(got.run == "run-1");
  CATCH_CHECK(got.part == 3);
  CATCH_CHECK(got.edge_type == 4);
  CATCH_CHECK(got.rule.fanout == -1);
  CATCH_CHECK(got.rule.kind == draw_kind::with_replacement);
  CATCH_CHECK(got.first == std::int64_t{1} << 40);
  CATCH_CHECK(got.skip == 7);
  std::vector<float> read(got.chances.count);
  read_floats(got.chances, sent.bulk, read.data());
  CATCH_CHECK(read == chances);
  // Whole numbers are no chances.
  arrays = {};
  query.chances = arrays.add_integers(numbers{1, 2});
  CATCH_CHECK_FALSE(
    decode_spread_request(value_of(encode(query, std::move(arrays)))));
}

CATCH_TEST_CASE("weights of edges cross the wire, and cost nothing else",
                "[messages][data][weights]") {
  sample_request asked{"run", 0, 0, 1, {}};
  asked.queries.push_back({0, {3}, false, {}});
  const auto without = value_of(encode(asked, bulk_writer{}));
  CATCH_CHECK(!value_of(decode_sample_request(without)).queries[0].weights);
  asked.queries[0].weights = true;
  const auto with = value_of(encode(asked, bulk_writer{}));
  CATCH_CHECK(with.body.size() == without.body.size());
  CATCH_CHECK(value_of(decode_sample_request(with)).queries[0].weights);

  const std::vector<float> weights{0, 0.5F, 3e38F};
  for (const auto kind : {element::float32, element::int32, element::uint8}) {
    bulk_writer arrays;
    sample_reply reply;
    const auto bytes = std::as_bytes(std::span{weights});
    reply.answers.push_back({{}, {}, {}, arrays.add(kind, bytes)});
    const auto sent = value_of(encode(reply, std::move(arrays)));
    const auto got = decode_sample_reply(sent);
    CATCH_CHECK(got.has_value() == (kind == element::float32));
    if (!got)
      continue;
    std::vector<float> back(got.value().answers[0].weights.count);
    read_floats(got.value().answers[0].weights, sent.bulk, back.data());
    CATCH_CHECK(back == weights);
  }
}

CATCH_TEST_CASE("ages of edges cross the wire", "[messages][data][times]") {
  sample_request asked{"run", 0, 0, 1, {}};
  asked.queries.push_back({0, {3}, false, {}});
  asked.queries.push_back(asked.queries[0]);
  asked.queries[1].ages = true;
  const auto sample =
    value_of(decode_sample_request(value_of(encode(asked, bulk_writer{}))));
  CATCH_CHECK(!sample.queries[0].ages);
  CATCH_CHECK(sample.queries[1].ages);

  const std::vector<float> ages{0, 1.5F, 0x1p64F};
  const auto back = [&ages](const bulk_array& array, const payload& from) {
    std::vector<float> out(array.count);
    read_floats(array, from.bulk, out.data());
    return out == ages;
  };
  const auto lists_in = [&ages](bulk_writer& arrays) {
    neighbour_arrays out;
    out.ages = arrays.add(element::float32, std::as_bytes(std::span{ages}));
    return out;
  };
  bulk_writer arrays;
  sample_reply reply;
  reply.answers.push_back(lists_in(arrays));
  const auto answer = value_of(encode(reply, std::move(arrays)));
  CATCH_CHECK(
    back(value_of(decode_sample_reply(answer)).answers[0].ages, answer));

  arrays = {};
  batch_reply batch;
  batch.edges.push_back(lists_in(arrays));
  const auto whole = value_of(encode(batch, std::move(arrays)));
  CATCH_CHECK(back(value_of(decode_batch_reply(whole)).edges[0].ages, whole));

  // Whole numbers are no ages.
  arrays = {};
  sample_reply wrong;
  wrong.answers.emplace_back().ages = arrays.add_integers(numbers{1, 2});
  CATCH_CHECK(!decode_sample_reply(value_of(encode(wrong, std::move(arrays)))));
}

CATCH_TEST_CASE("places of edges cross the wire, and their features are asked "
                "by them",
                "[messages][data][edge_features]") {
  sample_request asked{"run", 0, 0, 1, {}};
  asked.queries.push_back({0, {3}, false, {}});
  asked.queries.push_back(asked.queries[0]);
  asked.queries[1].places = true;
  const auto sample =
    value_of(decode_sample_request(value_of(encode(asked, bulk_writer{}))));
  CATCH_CHECK(!sample.queries[0].places);
  CATCH_CHECK(sample.queries[1].places);

  const numbers places{7, 0, 5'000'000'000};
  bulk_writer arrays;
  sample_reply reply;
  reply.answers.push_back({{}, {}, {}, {}, arrays.add_integers(places)});
  const auto answer = value_of(encode(reply, std::move(arrays)));
  CATCH_CHECK(
    read(value_of(decode_sample_reply(answer)).answers[0].places, answer)
    == places);

  arrays = {};
  batch_reply batch;
  batch.edges.push_back({{}, {}, {}, {}, arrays.add_integers(places)});
  const auto whole = value_of(encode(batch, std::move(arrays)));
  CATCH_CHECK(read(value_of(decode_batch_reply(whole)).edges[0].places, whole)
              == places);

  arrays = {};
  gather_request gather{"run", 0, {}};
  gather.queries.push_back(
    {0, arrays.add_integers(places), {gather_kind::edge_features}, false});
  gather.queries[0].edge_type = 4;
  gather.queries.push_back(gather.queries[0]);
  gather.queries[1].ids = arrays.add_integers(places);
  gather.queries[1].edges = arrays.add_integers(places);
  const auto message = value_of(encode(gather, std::move(arrays)));
  const auto got = value_of(decode_gather_request(message));
  CATCH_CHECK(got.queries[0].edge_type == 4);
  CATCH_CHECK(got.queries[0].kinds == std::vector{gather_kind::edge_features});
  CATCH_CHECK(read(got.queries[0].ids, message) == places);
  CATCH_CHECK(got.queries[0].edges.count == 0);
  CATCH_CHECK(read(got.queries[1].edges, message) == places);
}

CATCH_TEST_CASE("every kind of drawing crosses the wire", "[messages][data]") {
  for (const auto kind :
       {draw_kind::without_replacement, draw_kind::with_replacement,
        draw_kind::weighted_without_replacement,
        draw_kind::weighted_with_replacement, draw_kind::labor}) {
    sample_request sample{"run", 0, 0, 1, {}};
    sample.queries.push_back({0, {3, kind}, false, {}});
    const auto asked =
      value_of(decode_sample_request(value_of(encode(sample, bulk_writer{}))));
    CATCH_CHECK(asked.queries.at(0).rule.fanout == 3);
    CATCH_CHECK(asked.queries.at(0).rule.kind == kind);
    const spread_request query{"run", 0, 0, {3, kind}, 0, 0, {}};
    const auto spread =
      value_of(decode_spread_request(value_of(encode(query, bulk_writer{}))));
    CATCH_CHECK(spread.rule.kind == kind);
  }
}

CATCH_TEST_CASE("edges among some nodes are all of them", "[messages][data]") {
  sample_request sample{"run", 0, 0, 1, {}};
  sample.queries.push_back({0, {-1}, false, {}});
  sample.queries[0].among = true;
  const auto asked =
    value_of(decode_sample_request(value_of(encode(sample, bulk_writer{}))));
  CATCH_CHECK(asked.queries[0].among);
  CATCH_CHECK(asked.queries[0].rule.takes_all());
  for (const auto rule :
       {draw_rule{2}, draw_rule{-1, draw_kind::with_replacement}}) {
    sample.queries[0].rule = rule;
    CATCH_CHECK(
      error_of(decode_sample_request(value_of(encode(sample, bulk_writer{}))))
        .code
      == ec::invalid_data);
  }
}

CATCH_TEST_CASE("requests and replies survive the wire", "[messages][data]") {
  const auto messages = examples();
  const auto sample = value_of(decode_sample_request(messages[0]));
  CATCH_CHECK(sample.run == "run-1");
  CATCH_CHECK(sample.part == 3);
  CATCH_CHECK(sample.key == 77);
  CATCH_CHECK(sample.hop == 2);
  CATCH_REQUIRE(sample.queries.size() == 3);
  CATCH_CHECK(sample.queries[2].edge_type == 2);
  CATCH_CHECK(sample.queries[2].rule.fanout == 5);
  CATCH_CHECK(sample.queries[2].rule.kind == draw_kind::with_replacement);
  CATCH_CHECK(read(sample.queries[2].excluded.at, messages[0])
              == numbers{1, 2});
  CATCH_CHECK(read(sample.queries[2].excluded.counts, messages[0])
              == numbers{1, 2});
  CATCH_CHECK(read(sample.queries[2].excluded.edges, messages[0])
              == numbers{7, 3, 9});
  CATCH_REQUIRE(sample.among.size() == 2);
  CATCH_CHECK(read(sample.among[0], messages[0]) == numbers{4, 2});
  CATCH_CHECK(sample.among[1].count == 0);
  CATCH_CHECK(sample.queries[1].level == 2);
  CATCH_CHECK(sample.queries[2].level == 1);
  CATCH_CHECK(!sample.queries[2].edge_ids);
  CATCH_CHECK(read(sample.queries[2].destinations, messages[0]) == numbers{7});
  const auto reply = value_of(decode_sample_reply(messages[1]));
  CATCH_CHECK(!reply.too_large);
  CATCH_CHECK(read(reply.answers.at(0).counts, messages[1])
              == numbers{1, 2, 0, 300});
  const auto gather = value_of(decode_gather_request(messages[2]));
  CATCH_CHECK(gather.queries.at(0).half);
  CATCH_CHECK(gather.queries.at(0).kinds
              == std::vector{gather_kind::features, gather_kind::degrees});
  CATCH_CHECK(gather.queries.at(0).level == 0);
  CATCH_REQUIRE(gather.queries.at(0).excluded.size() == 2);
  CATCH_CHECK(gather.queries[0].excluded[0].at.count == 0);
  CATCH_CHECK(read(gather.queries[0].excluded[1].edges, messages[2])
              == numbers{5, 9, 1, 1'000'000});
  const auto values = value_of(decode_gather_reply(messages[3]));
  CATCH_CHECK(values.values.at(0).type == element::float32);
  CATCH_CHECK(values.values.at(0).count == 12);
  const auto batch = value_of(decode_batch_request(messages[4]));
  CATCH_CHECK(batch.key == 8);
  CATCH_CHECK(batch.kind == batch_kind::train);
  CATCH_REQUIRE(batch.batch);
  CATCH_CHECK((*batch.batch == batch_key{phase::test, 1, 2, 3}));
  CATCH_CHECK(read(batch.seeds, messages[4]) == numbers{5, 9, 1, 1'000'000});
  const auto sampled = value_of(decode_batch_reply(messages[5]));
  CATCH_CHECK(!sampled.too_large);
  CATCH_CHECK(sampled.nodes.at(0).found == numbers{1, 1, 5});
  CATCH_CHECK(read(sampled.edges.at(0).counts, messages[5])
              == numbers{1, 2, 0, 300});
  const auto doubt = value_of(decode_prove_request(messages[8]));
  CATCH_CHECK(doubt.run == "run");
  CATCH_CHECK(doubt.part == 2);
  CATCH_CHECK(doubt.queries.at(0).node_type == 1);
  CATCH_CHECK(doubt.queries.at(0).kind == gather_kind::labels);
  CATCH_CHECK(read(doubt.queries.at(0).blocks, messages[8])
              == numbers{5, 9, 1, 1'000'000});
  const auto proofs = value_of(decode_prove_reply(messages[9]));
  CATCH_CHECK(proofs.proofs.at(0).content.count == 48);
  CATCH_CHECK(proofs.proofs.at(0).digests.count == 32);
  const auto around = value_of(decode_batch_request(messages[10]));
  CATCH_CHECK(around.seeds.count == 0);
  CATCH_REQUIRE(around.seeds_by_type.size() == 3);
  CATCH_CHECK(around.seeds_by_type[1].count == 0);
  CATCH_REQUIRE(around.excluded.size() == 2);
  CATCH_CHECK(read(around.excluded[0].at, messages[10])
              == numbers{5, 9, 1, 1'000'000});
  CATCH_CHECK(around.excluded[1].at.count == 0);
  CATCH_CHECK(read(around.seeds_by_type[2], messages[10])
              == numbers{5, 9, 1, 1'000'000});
}

CATCH_TEST_CASE("frames may lie anywhere in memory", "[messages][data]") {
  for (std::size_t shift = 1; shift < 8; ++shift) {
    auto moved = examples();
    std::vector<std::vector<std::byte>> store;
    for (auto& message : moved)
      for (auto* part : {&message.body, &message.bulk.front()}) {
        auto& place = store.emplace_back(part->size() + shift);
        std::memcpy(place.data() + shift, part->data(), part->size());
        *part = frame::own(nullptr, std::span{place}.subspan(shift));
      }
    const auto back = value_of(decode_sample_request(moved[0]));
    CATCH_CHECK(read(back.queries.at(0).destinations, moved[0])
                == numbers{5, 9, 1, 1'000'000});
    for (const auto& message : moved)
      digest_all(message);
  }
}

CATCH_TEST_CASE("cut messages are refused or make sense", "[messages][data]") {
  for (const auto& message : examples()) {
    for (std::size_t size = 0; size < message.body.size(); ++size) {
      auto cut = message;
      cut.body = frame::copy(message.body.bytes().first(size));
      digest_all(cut);
    }
    for (std::size_t size = 0; size < message.bulk[0].size(); ++size) {
      auto cut = message;
      cut.bulk[0] = frame::copy(message.bulk[0].bytes().first(size));
      digest_all(cut);
    }
    auto none = message;
    none.bulk.clear();
    digest_all(none);
  }
}

CATCH_TEST_CASE("random bytes are refused or make sense", "[messages][data]") {
  const auto messages = examples();
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 1};
    auto message = messages[draws.below(6)];
    std::vector<std::byte> body{message.body.bytes().begin(),
                                message.body.bytes().end()};
    if (seed % 4 == 0)
      for (auto& byte : body)
        byte = static_cast<std::byte>(draws.below(256));
    for (std::uint32_t i = 0; i < 1 + draws.below(6); ++i)
      body[draws.below(static_cast<std::uint32_t>(body.size()))] =
        static_cast<std::byte>(draws.below(256));
    message.body = frame::copy(body);
    digest_all(message);
  }
}
