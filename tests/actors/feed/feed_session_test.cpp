#include "actors/feed/feed_session.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <array>
#include <string_view>

using namespace graphmill;
using namespace graphmill::test;

namespace {

result<feed_frame> parsed(std::string_view text) {
  return parse_feed_frame(std::as_bytes(std::span{text}));
}

} // namespace

CATCH_TEST_CASE(
  "a consumer opens its feed, and begins one pass after the other",
  "[actors][feed]") {
  feed_session session;
  CATCH_CHECK(!session.begin({1, 0, 0, 5}));
  CATCH_CHECK(!session.give_back({}));
  CATCH_CHECK(!session.judge());
  CATCH_CHECK(session.open(5));
  CATCH_CHECK(session.judge());
  CATCH_CHECK(!session.give_back({}));
  CATCH_CHECK(session.begin({1, 0, 0, 5}));
  CATCH_CHECK(session.give_back({}));
  CATCH_CHECK(session.begin({3, 7, 5, 5})); // An empty one.
  CATCH_CHECK(!session.begin({3, 8, 0, 5}));
  CATCH_CHECK(!session.begin({4, 8, 0, 6}));
  CATCH_CHECK(!session.begin({4, 8, 4, 3}));
  CATCH_CHECK(!session.open(5));
}

CATCH_TEST_CASE("passes with seeds of their own come one after the other",
                "[actors][feed]") {
  feed_session session;
  CATCH_CHECK(session.open(1));
  const auto pass = [](std::uint64_t number, bool own) {
    return feed_pass{.number = number, .steps = 1, .own_seeds = own};
  };
  CATCH_CHECK(session.begin(pass(1, true)));
  CATCH_CHECK(error_of(session.begin(pass(2, true))).message
              == "pass 2 has seeds of its own, and 1 batches of the previous "
                 "pass are not back");
  CATCH_CHECK(session.give_back({{.sequence = 0, .freed = true}}));
  CATCH_CHECK(!session.begin(pass(2, true)));
  CATCH_CHECK(session.give_back({{.sequence = 0, .returned = true}}));
  CATCH_CHECK(!session.begin(pass(2, false)));
  CATCH_CHECK(session.begin(pass(2, true)));

  feed_session other;
  CATCH_CHECK(other.open(1));
  CATCH_CHECK(other.begin(pass(1, false)));
  CATCH_CHECK(!other.begin(pass(2, true)));
}

CATCH_TEST_CASE("frames of a consumer", "[actors][feed]") {
  const auto opened = value_of(parsed(
    R"({"open": {"version": 4, "data": "d", "definition": "dataset: d",
        "split": "validation", "shuffle": null, "rank": 1, "world_size": 2,
        "form": "csr", "edge_ids": true, "storage": "disk", "memory": 7,
        "verify": false, "overrides": ["seed=3"], "rows": "triplets",
        "pairs": true, "edge_types": ["likes"], "negatives": false,
        "seed_type": "author"}})"));
  const auto& request = std::get<feed_request>(opened);
  CATCH_CHECK(request.phase == phase::validation);
  CATCH_CHECK(!request.shuffled);
  CATCH_CHECK(request.rank == 1);
  CATCH_CHECK(request.world == 2);
  CATCH_CHECK(request.form.layout == edge_layout::csr);
  CATCH_CHECK(request.form.edge_ids);
  CATCH_CHECK(request.storage.where == storage_kind::disk);
  CATCH_CHECK(request.storage.memory_bytes == 7);
  CATCH_CHECK(!request.verify);
  CATCH_CHECK(request.overrides == std::vector<std::string>{"seed=3"});
  CATCH_CHECK(request.form.rows == link_row_form::triplets);
  CATCH_CHECK(request.own_pairs);
  CATCH_CHECK(!request.own_seeds);
  CATCH_CHECK(request.seed_type == "author");
  CATCH_CHECK(!request.negatives);
  CATCH_CHECK(request.edge_types == std::vector<std::string>{"likes"});

  const auto begun = value_of(
    parsed(R"({"begin": {"number": 2, "epoch": 3, "first": 4, "steps": 5}})"));
  CATCH_CHECK(std::get<feed_pass>(begun).first == 4);
  CATCH_CHECK(!std::get<feed_pass>(begun).own_seeds);
  const auto own = value_of(parsed(
    R"({"begin": {"number": 2, "epoch": 0, "first": 0, "steps": 1,
                  "seeds": true}})"));
  CATCH_CHECK(std::get<feed_pass>(own).own_seeds);

  CATCH_CHECK(std::holds_alternative<wanted_verdict>(
    value_of(parsed(R"({"judge": {}})"))));

  const std::array<std::uint64_t, 5> words{0, 8, 1, 9, 3};
  const auto back = value_of(parse_feed_frame(std::as_bytes(std::span{words})));
  const auto& batches = std::get<std::vector<batch_back>>(back);
  CATCH_REQUIRE(batches.size() == 2);
  CATCH_CHECK(batches[0].sequence == 8);
  CATCH_CHECK((batches[0].returned && !batches[0].freed));
  CATCH_CHECK((batches[1].returned && batches[1].freed));
}

CATCH_TEST_CASE("what is no frame is refused", "[actors][feed]") {
  for (const auto* text :
       {"", "x", "{", "{}", R"({"open": 3})", R"({"begin": {"number": 0}})",
        R"({"begin": {"number": 1, "epoch": -1}})",
        R"({"open": {"version": 4, "split": "dev"}})",
        R"({"open": {"version": 4, "split": "train", "form": "coo",
            "storage": "auto", "rows": "tuples"}})",
        R"({"open": {"version": 4, "split": "train", "form": "coo",
            "storage": "auto", "rank": 2, "world_size": 2}})"})
    CATCH_CHECK(error_of(parsed(text)).code == ec::invalid_data);
  CATCH_CHECK(error_of(parsed(R"({"open": {"version": 1}})")).code
              == ec::version_mismatch);
}
