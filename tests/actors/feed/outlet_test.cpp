#include "actors/feed/outlet.hpp"

#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using sequences = std::vector<std::uint64_t>;

/// An outlet whose consumer the test is.
struct outlet_scene {
  simulation sim;
  bool room = true;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> handed;
  std::vector<std::weak_ptr<minibatch>> batches;
  std::shared_ptr<sequences> finished = std::make_shared<sequences>();
  std::vector<std::shared_ptr<minibatch>> kept; ///< By the consumer.
  outlet_actor outlet;

  outlet_scene() {
    outlet = sim.own(spawn_outlet(
      sim.system(),
      {0,
       [this](std::uint64_t sequence, std::uint64_t pass,
              std::shared_ptr<minibatch> batch) {
         if (room) {
           handed.emplace_back(sequence, pass);
           kept.push_back(std::move(batch));
         }
         return room;
       },
       std::make_shared<actor_gauge>(actor_label{actor_kind::trainer})}));
  }

  void want(feed_pass pass) {
    post(outlet, wanted_pass{phase::train, pass});
    sim.run();
  }

  /// A batch comes from the dispatcher.
  void give(std::uint64_t sequence, std::int32_t epoch, std::int64_t step) {
    std::shared_ptr<minibatch> batch = std::make_shared<formed_batch>();
    batch->data.key = {phase::train, epoch, step, 0};
    batches.push_back(batch);
    sim.system().spawn([to = outlet, batch = std::move(batch), sequence,
                        told = finished](caf::event_based_actor* self) {
      self->request(to, caf::infinite, step_input{sequence, batch, nullptr})
        .then([told](const step_finished& done) {
          told->push_back(done.sequence);
        });
    });
    sim.run();
  }

  void back(batch_back one) {
    post(outlet, batches_back{{one}});
    sim.run();
  }
};

} // namespace

CATCH_TEST_CASE("credit comes back with a batch, which the consumer alone has",
                "[actors][outlet]") {
  outlet_scene f;
  f.want({1, 0, 0, 5});
  f.give(0, 0, 0);
  f.give(1, 0, 1);
  CATCH_CHECK(
    f.handed
    == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 1}, {1, 1}});
  CATCH_CHECK(f.finished->empty());
  f.back({0, true, false});
  CATCH_CHECK(*f.finished == sequences{0});
  f.back({1, false, true}); // Freed before it is returned.
  CATCH_CHECK(*f.finished == sequences{0});
  f.back({1, true, false});
  CATCH_CHECK(*f.finished == sequences{0, 1});
  f.back({1, true, true}); // One that it does not have.
  CATCH_CHECK(*f.finished == sequences{0, 1});
  CATCH_CHECK(!f.batches[0].expired());
  f.kept.clear();
  CATCH_CHECK(f.batches[0].expired());
  CATCH_CHECK(f.batches[1].expired());
}

CATCH_TEST_CASE("batches of an abandoned pass are not handed out",
                "[actors][outlet]") {
  outlet_scene f;
  f.want({1, 0, 0, 5});
  f.give(0, 0, 0);
  f.want({2, 1, 3, 5});
  f.give(1, 0, 1);
  f.give(2, 1, 3);
  f.give(3, 1, 3); // The same batch, made for the pass itself.
  f.give(4, 1, 4);
  f.give(5, 1, 5); // Of no step.
  CATCH_CHECK(f.handed
              == std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                {0, 1}, {2, 2}, {4, 2}});
  CATCH_CHECK(*f.finished == sequences{1, 3, 5});
}

CATCH_TEST_CASE("a batch without room waits until another one comes back",
                "[actors][outlet]") {
  outlet_scene f;
  f.want({1, 0, 0, 5});
  f.give(0, 0, 0);
  f.room = false;
  f.give(1, 0, 1);
  CATCH_CHECK(f.handed.size() == 1);
  f.room = true;
  f.back({0, true, true});
  CATCH_CHECK(f.handed.size() == 2);
  f.room = false;
  f.give(2, 0, 2);
  f.room = true;
  post(f.outlet, batches_back{}); // The consumer has room again.
  f.sim.run();
  CATCH_CHECK(f.handed.size() == 3);
}

CATCH_TEST_CASE("batches of the consumer outlive the outlet",
                "[actors][outlet]") {
  outlet_scene f;
  f.want({1, 0, 0, 5});
  f.give(0, 0, 0);
  f.room = false;
  f.give(1, 0, 1);
  stop_actor(f.outlet);
  f.sim.run();
  CATCH_CHECK(!f.batches[0].expired());
  CATCH_CHECK(f.batches[1].expired()); // It was never handed out.
}

} // namespace graphmill::test
