#include "actors/cluster/recovery/kept_state.hpp"

#include "actors/cluster/base/tensor_pieces.hpp"
#include "actors/cluster/recovery/kept_offers.hpp"
#include "pipelines/results/run_positions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace graphmill::test::kept_states {

namespace {

using namespace std::chrono_literals;

const kept_state::clock::time_point start{};

/// More values than one request asks for, none at all, and a single one.
std::vector<named_tensor> some_tensors() {
  std::vector<float> many(5 << 20);
  std::iota(many.begin(), many.end(), 1.0f);
  return {{"w", {5, 1 << 20}, many}, {"none", {0, 3}, {}}, {"b", {}, {0.5f}}};
}

kept_state::content some_content(const std::string& run = "r") {
  kept_state::content out;
  out.run = run;
  out.attempt = 3;
  out.rank = 2;
  out.digest = "d";
  out.state.at = {3, 17, 62, 0.75, 1};
  out.state.so_far = {1.5, 8, 9};
  out.state.tensors =
    std::make_shared<const std::vector<named_tensor>>(some_tensors());
  return out;
}

/// Takes all that is kept of a run over, as another daemon does.
result<tensor_intake> fetched(const kept_state& from, const std::string& run) {
  tensor_intake intake{from.of(run).tensors};
  while (auto wanted = intake.next(run)) {
    wanted->kept = true;
    GRAPHMILL_TRY(const auto asked, decode_weights_request(encode(*wanted)));
    GRAPHMILL_TRY(const auto answer, from.piece(asked));
    GRAPHMILL_TRYV(intake.take(answer));
  }
  return intake;
}

} // namespace

CATCH_TEST_CASE("what a daemon has kept can be fetched, to the bit",
                "[recovery]") {
  kept_state kept;
  kept.keep(some_content(), start + 1min);
  const auto told = value_of(decode_member_reply(encode(kept.of("r"))));
  CATCH_REQUIRE(told.kept);
  CATCH_CHECK(position_in(*told.kept) == some_content().state.at);
  CATCH_CHECK(sums_in(*told.kept).loss_sum == 1.5);
  CATCH_CHECK(sums_in(*told.kept).correct == 8);
  CATCH_CHECK(sums_in(*told.kept).seeds == 9);
  CATCH_CHECK(told.kept_attempt == 3);
  CATCH_REQUIRE(told.trainers.size() == 1);
  CATCH_CHECK(told.trainers[0].rank == 2);
  CATCH_CHECK(told.trainers[0].digest == "d");
  CATCH_CHECK(told.trainers[0].steps == 62);
  const auto came = value_of(fetched(kept, "r")).done();
  const auto was = some_tensors();
  CATCH_REQUIRE(came.size() == was.size());
  for (std::size_t t = 0; t < was.size(); ++t) {
    CATCH_CHECK(came[t].name == was[t].name);
    CATCH_CHECK(came[t].shape == was[t].shape);
    CATCH_CHECK(came[t].values == was[t].values);
  }
}

CATCH_TEST_CASE("weights that were fetched are known by their digest",
                "[recovery]") {
  kept_state kept;
  auto content = some_content();
  auto tensors = some_tensors();
  content.digest = weights_digest(tensors);
  // Of these it says nothing.
  for (const auto* name : {"optimizer.first.w", "optimizer.second.w", "best.w"})
    tensors.push_back({name, {1}, {2.0f}});
  kept_offer offer;
  offer.daemon = "b";
  offer.digest = content.digest;
  const auto given = [&] {
    content.state.tensors =
      std::make_shared<const std::vector<named_tensor>>(tensors);
    kept.keep(content, start + 1min);
    return check_given(offer, value_of(fetched(kept, "r")).weights_digest());
  };
  CATCH_CHECK(given());
  tensors.front().values.back() = 0;
  const auto flipped = error_of(given());
  CATCH_CHECK(flipped.code == ec::invalid_data);
  CATCH_CHECK(flipped.message
              == "it reported weights with the digest " + offer.digest
                   + ", but sent weights with "
                   + weights_digest(std::span{tensors}.first(3)));
}

CATCH_TEST_CASE("a position without a validation travels as such",
                "[recovery]") {
  const course_position first{0, 2, 2, std::nullopt, 0};
  CATCH_CHECK(position_in(wire_form(first, {})) == first);
  const course_position bad{1, 0, 4, 0.0, 1}; // The best one gave 0.
  CATCH_CHECK(position_in(wire_form(bad, {})) == bad);
}

CATCH_TEST_CASE("a daemon keeps the state of each run, for a while",
                "[recovery]") {
  kept_state kept;
  CATCH_CHECK_FALSE(kept.of("r").kept);
  CATCH_CHECK(error_of(kept.piece({"r", 0, 0, 1})).message
              == "nothing is kept of run r here");
  kept.keep(some_content(), start + 1min);
  CATCH_CHECK_FALSE(kept.of("another").kept);
  CATCH_CHECK(kept.of("another").tensors.empty());
  CATCH_CHECK_FALSE(kept.piece({"another", 0, 0, 1}));
  kept.keep(some_content("next"), start + 2min);
  CATCH_CHECK(kept.of("r").kept);
  CATCH_CHECK(kept.piece({"r", 0, 0, 1}));
  CATCH_CHECK(kept.of("next").kept);
  kept.keep_only({"next", "unknown"}); // Of those that go on.
  CATCH_CHECK_FALSE(kept.of("r").kept);
  CATCH_CHECK_FALSE(kept.piece({"r", 0, 0, 1}));
  CATCH_CHECK(kept.of("next").kept);
  kept.keep(some_content(), start + 1min);
  kept.look(start + 2min - 1s);
  CATCH_CHECK_FALSE(kept.of("r").kept);
  CATCH_CHECK(kept.of("next").kept);
  kept.look(start + 2min);
  CATCH_CHECK_FALSE(kept.of("next").kept);
  kept.keep(some_content(), start + 1min);
  kept.keep(some_content("next"), start + 1min);
  kept.forget("r");
  CATCH_CHECK_FALSE(kept.of("r").kept);
  CATCH_CHECK(kept.of("next").kept);
  kept.keep_only({});
  CATCH_CHECK_FALSE(kept.of("next").kept);
}

CATCH_TEST_CASE("pieces that are not there are refused", "[recovery]") {
  kept_state kept;
  kept.keep(some_content(), start + 1min);
  CATCH_CHECK(kept.piece({"r", 2, 0, 1}));
  CATCH_CHECK(error_of(kept.piece({"r", 3, 0, 1})).code == ec::not_found);
  CATCH_CHECK(error_of(kept.piece({"r", 2, 0, 2})).code
              == ec::invalid_argument);
  CATCH_CHECK(error_of(kept.piece({"r", 2, 2, 0})).code
              == ec::invalid_argument);
  CATCH_CHECK_FALSE(kept.piece({"r", 0, ~std::uint64_t{0}, 2}));
  // Nor does whoever asks take more or less than it has asked for.
  tensor_intake intake{{{"b", {2}}}};
  CATCH_REQUIRE(intake.next("r"));
  CATCH_CHECK_FALSE(intake.take(encode_weights(std::vector{1.0f})));
  tensor_intake other{{{"b", {2}}}};
  CATCH_REQUIRE(other.next("r"));
  CATCH_CHECK_FALSE(other.take(encode_weights(std::vector{1.0f, 2.0f, 3.0f})));
}

} // namespace graphmill::test::kept_states
