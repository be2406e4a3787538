#include "messages/wire/run.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

seed_outcomes some_outcomes(std::int32_t classes) {
  seed_outcomes out;
  out.classes = classes;
  out.confusion = {{0, 1, 2}, {1, 1, 3}};
  out.labels = {1, 0};
  out.scores.assign(2 * static_cast<std::size_t>(classes), 0.5f);
  out.scores[1] = -2;
  return out;
}

run_events events_with(std::vector<seed_outcomes> told) {
  run_events out;
  out.run = "r";
  out.sequence = 1;
  out.steps.resize(told.size() + 1); // The last one tells of none.
  for (std::size_t i = 0; i < told.size(); ++i)
    out.steps[i].outcomes =
      std::make_shared<const seed_outcomes>(std::move(told[i]));
  return out;
}

/// Events that bring less or more than they tell of are refused.
void check_bulk_is_counted(const payload& message) {
  auto less = message;
  less.bulk.clear();
  CATCH_CHECK_THAT(error_of(decode_run_events(less)).message,
                   contains("more outcomes than they bring"));
  auto more = message;
  more.bulk.push_back(message.bulk.front());
  CATCH_CHECK_THAT(error_of(decode_run_events(more)).message,
                   contains("more outcomes than they tell of"));
}

} // namespace

CATCH_TEST_CASE("outcomes of steps come over whole", "[messages][outcomes]") {
  auto plain = some_outcomes(3);
  plain.labels.clear();
  plain.scores.clear();
  seed_outcomes none;
  none.classes = 7; // Of a batch without a labelled seed.
  const auto sent = events_with({some_outcomes(2), plain, none});
  const auto message = encode(sent);
  CATCH_CHECK(message.bulk.size() == 1);
  const auto got = value_of(decode_run_events(message));
  CATCH_REQUIRE(got.steps.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    CATCH_REQUIRE(got.steps[i].outcomes);
    CATCH_CHECK(*got.steps[i].outcomes == *sent.steps[i].outcomes);
  }
  CATCH_CHECK_FALSE(got.steps[3].outcomes);
  CATCH_CHECK(bulk_bytes_of(plain) == 24);
  CATCH_CHECK(bulk_bytes_of(some_outcomes(2)) == 24 + 8 + 16);
}

namespace {

/// Two seeds, of which the first one has the last label.
seed_outcomes some_label_outcomes() {
  seed_outcomes out;
  out.classes = 33;
  out.form = outcome_form::labels;
  for (std::int32_t c = 0; c < 33; ++c)
    out.confusion.push_back({c, c % 4, 2});
  out.labels = {0, 1, 0, 0};
  out.scores.assign(66, -0.5f);
  return out;
}

} // namespace

CATCH_TEST_CASE("outcomes of several labels come over whole",
                "[messages][outcomes]") {
  auto plain = some_label_outcomes();
  plain.labels.clear();
  plain.scores.clear();
  const auto sent = events_with({some_label_outcomes(), plain});
  const auto got = value_of(decode_run_events(encode(sent)));
  for (std::size_t i = 0; i < 2; ++i) {
    CATCH_REQUIRE(got.steps[i].outcomes);
    CATCH_CHECK(*got.steps[i].outcomes == *sent.steps[i].outcomes);
  }
  const auto refused = [](auto change) {
    auto told = some_label_outcomes();
    change(told);
    CATCH_CHECK_FALSE(told.check());
    CATCH_CHECK_FALSE(decode_run_events(encode(events_with({told}))));
  };
  refused([](seed_outcomes& told) { told.confusion[0].label = 33; });
  refused([](seed_outcomes& told) { told.confusion[0].predicted = 4; });
  refused([](seed_outcomes& told) { told.confusion[0].predicted = -1; });
  refused([](seed_outcomes& told) { told.confusion.pop_back(); });
  refused([](seed_outcomes& told) { told.scores.pop_back(); });
  refused([](seed_outcomes& told) { told.labels.pop_back(); });
}

CATCH_TEST_CASE("outcomes of numbers come over whole", "[messages][outcomes]") {
  seed_outcomes values;
  values.classes = 2;
  values.form = outcome_form::values;
  values.values = {0.5f, -1, 3, 0};
  values.scores = {1, 2, std::numeric_limits<float>::infinity(), 4};
  value_of(values.check());
  const auto sent = events_with({values});
  const auto got = value_of(decode_run_events(encode(sent)));
  CATCH_REQUIRE(got.steps.at(0).outcomes);
  CATCH_CHECK(*got.steps[0].outcomes == values);
  const auto refused = [&values](auto change) {
    auto told = values;
    change(told);
    CATCH_CHECK_FALSE(told.check());
    CATCH_CHECK_FALSE(decode_run_events(encode(events_with({told}))));
  };
  refused([](seed_outcomes& told) { told.form = outcome_form::labels; });
  refused([](seed_outcomes& told) { told.confusion = {{0, 1, 1}}; });
  refused([](seed_outcomes& told) { told.scores.pop_back(); });
  refused([](seed_outcomes& told) { told.values.pop_back(); });
  refused([](seed_outcomes& told) { told.labels.push_back(0); });
  refused([](seed_outcomes& told) {
    told.values[1] = std::numeric_limits<float>::quiet_NaN();
  });
}

CATCH_TEST_CASE("outcomes of links come over whole", "[messages][outcomes]") {
  seed_outcomes links;
  links.classes = 1;
  links.form = outcome_form::ranks;
  links.labels = {1, 0, 1, 0};
  links.scores = {2, -1, 0.5f, 0.5f};
  links.destination_ranks = {{2, 1}, {seed_outcomes::most_doubled_rank, 1}};
  links.source_ranks = {{3, 1, 0}, {2, 1, 7}};
  links.tied = 3;
  links.groups = {{1, 1, 3}, {4, 1, seed_outcomes::most_doubled_rank}};
  value_of(links.check());
  auto plain = links; // Destinations alone, and no scores.
  plain.labels.clear();
  plain.scores.clear();
  plain.source_ranks.clear();
  plain.tied = 2;
  plain.groups.clear();
  const auto sent = events_with({links, some_outcomes(2), plain});
  const auto message = encode(sent);
  const auto got = value_of(decode_run_events(message));
  for (std::size_t i = 0; i < 3; ++i) {
    CATCH_REQUIRE(got.steps.at(i).outcomes);
    CATCH_CHECK(*got.steps[i].outcomes == *sent.steps[i].outcomes);
  }
  check_bulk_is_counted(message);
  CATCH_CHECK(bulk_bytes_of(links) == 16 + 16 + 64 + 32);
  const auto refused = [&links](auto change) {
    auto told = links;
    change(told);
    CATCH_CHECK_FALSE(told.check());
    CATCH_CHECK_FALSE(decode_run_events(encode(events_with({told}))));
  };
  for (const auto form :
       {outcome_form::classes, outcome_form::labels, outcome_form::values})
    refused([form](seed_outcomes& told) { told.form = form; });
  refused([](seed_outcomes& told) { told.classes = 2; });
  refused([](seed_outcomes& told) { told.confusion = {{0, 0, 1}}; });
  refused([](seed_outcomes& told) { told.labels[0] = 2; });
  refused([](seed_outcomes& told) { told.labels[0] = -1; });
  refused([](seed_outcomes& told) { told.labels.pop_back(); });
  refused([](seed_outcomes& told) { told.source_ranks[0].doubled = 1; });
  refused([](seed_outcomes& told) { told.source_ranks[0].doubled = -4; });
  refused([](seed_outcomes& told) { told.source_ranks[0].relation = -1; });
  refused([](seed_outcomes& told) { told.source_ranks[0].relation = 8; });
  refused([](seed_outcomes& told) { ++told.destination_ranks[1].doubled; });
  refused([](seed_outcomes& told) { told.destination_ranks[1].doubled = 2; });
  refused([](seed_outcomes& told) { told.source_ranks[0].count = 0; });
  refused([](seed_outcomes& told) { told.source_ranks[0].count = -2; });
  refused([](seed_outcomes& told) { told.source_ranks[0].count = 3; });
  refused([](seed_outcomes& told) {
    told.source_ranks[0].count = told.destination_ranks[0].count = 1 << 30;
  });
  refused([](seed_outcomes& told) { told.tied = -1; });
  refused([](seed_outcomes& told) { told.tied = 5; });
  refused([](seed_outcomes& told) { told.groups[0].size = 0; });
  refused([](seed_outcomes& told) { told.groups[0].count = 0; });
  refused([](seed_outcomes& told) { told.groups[0].count = 2; });
  refused([](seed_outcomes& told) { told.groups[0].doubled = 1; });
  refused([](seed_outcomes& told) { ++told.groups[1].doubled; });
  refused([](seed_outcomes& told) { told.groups[0] = told.groups[1]; });
  refused([](seed_outcomes& told) { told.groups[0].size = 5; });
  refused([](seed_outcomes& told) {
    told.groups[1].size = seed_outcomes::most_grouped + 1;
  });
  refused([](seed_outcomes& told) {
    told.source_ranks[1].relation = seed_outcomes::most_relations;
  });
  refused([](seed_outcomes& told) { // Of destinations alone.
    told.destination_ranks.clear();
    told.tied = 2;
  });
}

CATCH_TEST_CASE("outcomes that do not fit their message are refused",
                "[messages][outcomes]") {
  check_bulk_is_counted(encode(events_with({some_outcomes(2)})));
}

CATCH_TEST_CASE("outcomes that make no sense are refused",
                "[messages][outcomes]") {
  const auto refused = [](auto change) {
    auto told = some_outcomes(2);
    change(told);
    CATCH_CHECK_FALSE(told.check());
    CATCH_CHECK_FALSE(decode_run_events(encode(events_with({told}))));
  };
  value_of(some_outcomes(2).check());
  refused([](seed_outcomes& told) { told.classes = 0; });
  refused([](seed_outcomes& told) { told.classes = -1; });
  refused([](seed_outcomes& told) { told.confusion[0].label = 2; });
  refused([](seed_outcomes& told) { told.confusion[0].predicted = -1; });
  refused([](seed_outcomes& told) { told.confusion[1].count = 0; });
  refused([](seed_outcomes& told) { told.labels[0] = -1; });
  refused([](seed_outcomes& told) { told.labels[1] = 2; });
  refused([](seed_outcomes& told) { told.scores.pop_back(); });
  refused([](seed_outcomes& told) {
    told = some_outcomes(seed_outcomes::most_counted_classes + 1);
  });
  auto large = some_outcomes((1 << 21) + 1); // Two seeds: 2^22 + 2 scores.
  large.confusion.clear();
  CATCH_CHECK_FALSE(large.check());
  auto most = some_outcomes(1 << 21);
  most.confusion.clear();
  value_of(most.check());
}

namespace {

/// Two steps of a run that predicts, of two seeds and of none.
run_events events_with_logits() {
  auto out = events_with({some_outcomes(2)});
  out.steps[0].original_seeds = {4, 5};
  out.steps[1].original_seeds = {7, 8};
  out.steps[1].logits = std::make_shared<const std::vector<float>>(
    std::vector<float>{1, -2, 3, 0.5f, 0, -1});
  out.steps.emplace_back();
  return out;
}

} // namespace

CATCH_TEST_CASE("logits of steps come over whole", "[messages][outcomes]") {
  const auto sent = events_with_logits();
  const auto got = value_of(decode_run_events(encode(sent)));
  CATCH_REQUIRE(got.steps.size() == 3);
  CATCH_CHECK(*got.steps[0].outcomes == *sent.steps[0].outcomes);
  CATCH_CHECK_FALSE(got.steps[0].logits);
  CATCH_REQUIRE(got.steps[1].logits);
  CATCH_CHECK(*got.steps[1].logits == *sent.steps[1].logits);
  CATCH_CHECK_FALSE(got.steps[2].logits);
}

CATCH_TEST_CASE("logits that do not fit their message are refused",
                "[messages][outcomes]") {
  check_bulk_is_counted(encode(events_with_logits()));
  auto large = events_with_logits();
  large.steps[1].logits = std::make_shared<const std::vector<float>>(
    std::vector<float>(2 * ((1 << 21) + 1))); // 2^22 + 2 of them.
  CATCH_CHECK_THAT(error_of(decode_run_events(encode(large))).message,
                   contains("4194306 logits of a batch"));
  large.steps[1].logits =
    std::make_shared<const std::vector<float>>(std::vector<float>(1 << 22));
  value_of(decode_run_events(encode(large)));
}
