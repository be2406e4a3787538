#include "actors/remote/task_lanes.hpp"

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
std::vector<std::string> turns(task_lanes& lanes) {
  std::vector<std::string> out;
  while (const auto next = lanes.next())
    out.push_back(std::to_string(next->part) + ':'
                  + std::to_string(next->first));
  return out;
}

using words = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("each part has its own tasks under way", "[remote][lanes]") {
  task_lanes lanes{{1, 2}};
  CATCH_CHECK(lanes.empty());
  for (node_id first = 0; first < 3; ++first) {
    lanes.push(task_of(1, first));
    lanes.push(task_of(0, first));
  }
  CATCH_CHECK(turns(lanes) == words{"0:0", "1:0", "1:1"});
  CATCH_CHECK(turns(lanes).empty());
  lanes.settle(task_of(1, 0), true);
  CATCH_CHECK(turns(lanes) == words{"1:2"});
  lanes.settle(task_of(0, 0), true);
  CATCH_CHECK(turns(lanes) == words{"0:1"});
  CATCH_CHECK_FALSE(lanes.empty());
}

CATCH_TEST_CASE("a task that is not done comes again, before others",
                "[remote][lanes]") {
  task_lanes lanes{{1}};
  lanes.push(task_of(0, 0));
  lanes.push(task_of(0, 100));
  CATCH_CHECK(turns(lanes) == words{"0:0"});
  lanes.settle(task_of(0, 50), false); // The rest of it.
  CATCH_CHECK(turns(lanes) == words{"0:50"});
  lanes.settle(task_of(0, 50), true);
  CATCH_CHECK_FALSE(lanes.empty());
  CATCH_CHECK(turns(lanes) == words{"0:100"});
  lanes.settle(task_of(0, 100), true);
  CATCH_CHECK(lanes.empty());
}
