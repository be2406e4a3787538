#include "actors/remote/calls/task_queues.hpp"

#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace graphmill;

namespace {

inclusion::task task_of(part_id part, node_id first) {
  inclusion::task out;
  out.part = part;
  out.first = first;
  return out;
}

/// "part:first" of what may be asked now.
std::vector<std::string> turns(task_queues& queues) {
  std::vector<std::string> out;
  while (const auto next = queues.next())
    out.push_back(std::to_string(next->part) + ':'
                  + std::to_string(next->first));
  return out;
}

using words = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("each part has its own tasks under way", "[remote][lanes]") {
  task_queues queues{{1, 2}};
  CATCH_CHECK(queues.empty());
  for (node_id first = 0; first < 3; ++first) {
    queues.push(task_of(1, first));
    queues.push(task_of(0, first));
  }
  CATCH_CHECK(turns(queues) == words{"0:0", "1:0", "1:1"});
  CATCH_CHECK(turns(queues).empty());
  queues.settle(task_of(1, 0), true);
  CATCH_CHECK(turns(queues) == words{"1:2"});
  queues.settle(task_of(0, 0), true);
  CATCH_CHECK(turns(queues) == words{"0:1"});
  CATCH_CHECK_FALSE(queues.empty());
}

CATCH_TEST_CASE("a task that is not done comes again, before others",
                "[remote][lanes]") {
  task_queues queues{{1}};
  queues.push(task_of(0, 0));
  queues.push(task_of(0, 100));
  CATCH_CHECK(turns(queues) == words{"0:0"});
  queues.settle(task_of(0, 50), false); // The rest of it.
  CATCH_CHECK(turns(queues) == words{"0:50"});
  queues.settle(task_of(0, 50), true);
  CATCH_CHECK_FALSE(queues.empty());
  CATCH_CHECK(turns(queues) == words{"0:100"});
  queues.settle(task_of(0, 100), true);
  CATCH_CHECK(queues.empty());
}
