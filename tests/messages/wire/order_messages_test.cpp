#include "messages/wire/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("positions that no run can stand at are refused",
                "[messages][cluster]") {
  member_reply reply;
  CATCH_CHECK_FALSE(value_of(decode_member_reply(encode(reply))).kept);
  const run_position good{1, 2, 30, true, 0.5, 4, 1.5, 6, 7};
  reply.kept = good;
  CATCH_CHECK(value_of(decode_member_reply(encode(reply))).kept == good);
  for (auto wrong :
       {&run_position::step, &run_position::correct, &run_position::seeds}) {
    reply.kept = good;
    reply.kept.value().*wrong = -1;
    CATCH_CHECK(error_of(decode_member_reply(encode(reply))).code
                == ec::invalid_data);
  }
  reply.kept = good;
  reply.kept->epoch = -1;
  CATCH_CHECK_FALSE(decode_member_reply(encode(reply)));
  reply.kept = good;
  reply.kept->train_steps = 1; // Of which 2 are of the epoch that is on?
  CATCH_CHECK_FALSE(decode_member_reply(encode(reply)));
}

CATCH_TEST_CASE("orders to begin in the middle, and to restore, travel whole",
                "[messages][cluster]") {
  member_request begin{"r", member_action::begin};
  begin.steps = 9;
  begin.first_step = 7;
  CATCH_CHECK(value_of(decode_member_request(encode(begin))).first_step == 7);
  begin.first_step = 9; // Of an epoch that is over but for its validation.
  CATCH_CHECK(value_of(decode_member_request(encode(begin))).steps == 9);
  for (std::int64_t wrong : {-1, 10}) {
    begin.first_step = wrong;
    CATCH_CHECK(error_of(decode_member_request(encode(begin))).code
                == ec::invalid_data);
  }

  member_request load{"r", member_action::load};
  load.tensor = {"best.layers.0.weight", {3, 4}};
  load.offset = 5;
  const auto piece = value_of(decode_member_request(encode(load)));
  CATCH_CHECK(piece.action == member_action::load);
  CATCH_CHECK(piece.tensor.name == load.tensor.name);
  CATCH_CHECK(piece.tensor.shape == load.tensor.shape);
  CATCH_CHECK(piece.offset == 5);
  load.tensor.shape = {3, -1};
  CATCH_CHECK(error_of(decode_member_request(encode(load))).code
              == ec::invalid_data);

  member_request restore{"r", member_action::trainers, trainer_action::restore};
  restore.restored_steps = 11;
  CATCH_CHECK(value_of(decode_member_request(encode(restore))).restored_steps
              == 11);
  restore.restored_steps = -1;
  CATCH_CHECK(error_of(decode_member_request(encode(restore))).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("actions of trainers travel by the schema's values",
                "[messages][cluster]") {
  for (auto action : {trainer_action::keep_best, trainer_action::restore_best,
                      trainer_action::snapshot, trainer_action::fill_cache,
                      trainer_action::digest, trainer_action::checkpoint,
                      trainer_action::restore}) {
    const member_request request{"r", member_action::trainers, action};
    const auto there = value_of(decode_member_request(encode(request)));
    CATCH_CHECK(there.action == member_action::trainers);
    CATCH_CHECK(there.trainers == action);
  }
  // Nobody sends these; whoever gets them refuses them.
  for (auto action : {trainer_action{0}, trainer_action{8},
                      trainer_action::weights, trainer_action::keep})
    CATCH_CHECK(error_of(decode_member_request(
                           encode({"r", member_action::trainers, action})))
                  .code
                == ec::invalid_data);
}

CATCH_TEST_CASE("weights travel in frames of at most 1 MiB",
                "[messages][cluster]") {
  std::vector<float> values(700'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  const auto message = encode_weights(values);
  CATCH_CHECK(message.bulk.size() == 3);
  std::vector<float> out(values.size());
  value_of(decode_weights(message, out));
  CATCH_CHECK(out == values);
  out.resize(values.size() - 1);
  CATCH_CHECK(error_of(decode_weights(message, out)).code == ec::invalid_data);
  out.resize(values.size() + 1);
  CATCH_CHECK(error_of(decode_weights(message, out)).code == ec::invalid_data);
}
