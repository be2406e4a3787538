#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

run_ptr queued_run(const std::string& id, std::int64_t place) {
  auto out = std::make_shared<submitted_run>();
  out->id = id;
  out->place = place;
  out->home = "here";
  return out;
}

run_ptr broken_run(const std::string& id, std::int64_t place) {
  auto out = queued_run(id, place);
  out->life = attempt{attempt::state::waiting};
  return out;
}

std::string ids(const run_queue& queue) {
  std::string out;
  for (const auto& run : queue.all())
    out += run->id;
  return out;
}

} // namespace

CATCH_TEST_CASE("runs that wait for their next attempt stand before others, in "
                "their order",
                "[leading]") {
  run_queue queue;
  queue.add(queued_run("c", 2));
  queue.add(queued_run("d", 3));
  CATCH_CHECK(queue.next_place() == 4);
  queue.put_back(broken_run("b", 1));
  queue.put_back(broken_run("a", 0));
  CATCH_CHECK(ids(queue) == "abcd");
  // One that was submitted after others takes a place before them.
  queue.put_back(broken_run("e", 9));
  CATCH_CHECK(ids(queue) == "abecd");
  CATCH_CHECK(queue.all()[2]->place < queue.all()[3]->place);
  CATCH_CHECK(queue.count_of("here") == 5);
  CATCH_CHECK(queue.has_waiting_beside(*queue.all()[0]));
  CATCH_CHECK(queue.take("e")->id == "e");
  CATCH_CHECK(queue.take("e") == nullptr);
  queue.take("b");
  CATCH_CHECK_FALSE(queue.has_waiting_beside(*queue.all()[0]));
}

CATCH_TEST_CASE("what a run waits for is put off by the time in which nobody "
                "could be heard",
                "[leading]") {
  run_queue queue;
  const auto run = queued_run("a", 0);
  const auto then = run_queue::clock::now();
  run->wait.returning = {"x", "y"};
  run->wait.return_until = then;
  queue.add(run);
  queue.put_off(5s);
  CATCH_CHECK(run->wait.return_until == then + 5s);
  CATCH_CHECK(run->wait.shrink_at == run_queue::clock::time_point{});
  CATCH_CHECK(run->awaits_attempt());
  queue.daemon_returned("x");
  queue.daemon_returned("y");
  CATCH_CHECK_FALSE(run->awaits_attempt());
}

} // namespace graphmill::test
