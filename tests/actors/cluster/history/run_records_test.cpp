#include "actors/cluster/history/run_records.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;

namespace {

run_record run_of(const std::string& id, run_state state) {
  run_record out;
  out.id = id;
  out.state = state;
  return out;
}

std::string ids_of(const std::vector<run_history::entry>& changes) {
  std::string out;
  for (const auto& change : changes)
    out += change.record.id;
  return out;
}

const error full{ec::no_space, "the disk is full"};

} // namespace

CATCH_TEST_CASE("what changes is written once, and then forgotten if over",
                "[cluster]") {
  run_records records;
  CATCH_CHECK(records.find("a") == nullptr);
  records.add(run_of("a", run_state::queued));
  CATCH_CHECK(records.all_written());
  CATCH_CHECK(records.take_unwritten().empty());
  records.set(run_of("a", run_state::running));
  CATCH_CHECK(!records.all_written());
  CATCH_CHECK(ids_of(records.take_unwritten()) == "a");
  CATCH_CHECK(records.take_unwritten().empty());
  CATCH_CHECK(!records.written({}));
  CATCH_CHECK(records.all_written());
  CATCH_CHECK(records.find("a")->state == run_state::running);
  records.set(run_of("a", run_state::finished));
  CATCH_CHECK(ids_of(records.take_unwritten()) == "a");
  CATCH_CHECK(records.find("a")->state == run_state::finished);
  records.written({});
  CATCH_CHECK(records.find("a") == nullptr);
}

CATCH_TEST_CASE("a run that changes while it is written is written again",
                "[cluster]") {
  run_records records;
  records.add(run_of("a", run_state::queued));
  records.add(run_of("b", run_state::queued));
  records.set(run_of("a", run_state::running));
  records.take_unwritten();
  records.set(run_of("a", run_state::failed));
  records.set(run_of("b", run_state::cancelled));
  CATCH_CHECK(records.take_unwritten().empty()); // One batch at a time.
  records.written({});
  CATCH_CHECK(records.find("a")->state == run_state::failed);
  CATCH_CHECK(records.find("b")->state == run_state::cancelled);
  CATCH_CHECK(ids_of(records.take_unwritten()) == "ab");
  records.written({});
  CATCH_CHECK(records.find("a") == nullptr);
  CATCH_CHECK(records.find("b") == nullptr);
}

CATCH_TEST_CASE("what cannot be written is true all the same", "[cluster]") {
  run_records records;
  records.add(run_of("a", run_state::running));
  records.set(run_of("a", run_state::failed));
  records.take_unwritten();
  CATCH_CHECK(records.written(full));
  CATCH_CHECK(records.failure()->code == ec::no_space);
  CATCH_CHECK(records.find("a")->state == run_state::failed);
  CATCH_CHECK(!records.all_written());
  std::vector page{run_of("a", run_state::running),
                   run_of("z", run_state::finished)};
  records.correct(page);
  CATCH_CHECK(page[0].state == run_state::failed);
  CATCH_CHECK(page[1].state == run_state::finished);

  records.add(run_of("b", run_state::queued));
  records.set(run_of("b", run_state::running));
  CATCH_CHECK(ids_of(records.take_unwritten()) == "ab");
  CATCH_CHECK(!records.written(full)); // No news.
  CATCH_CHECK(ids_of(records.take_unwritten()) == "ab");
  CATCH_CHECK(records.written({}));
  CATCH_CHECK(!records.failure());
  CATCH_CHECK(records.find("a") == nullptr);
  CATCH_CHECK(records.find("b")->state == run_state::running);
}

CATCH_TEST_CASE("what it takes to go on with a run is written with its record",
                "[cluster]") {
  run_records records;
  records.add(run_of("a", run_state::queued));
  records.set(run_of("a", run_state::running),
              run_standing{1, 2, "home", {}, {}, {"b"}});
  auto changes = records.take_unwritten();
  CATCH_REQUIRE(changes.size() == 1);
  CATCH_REQUIRE(changes[0].standing);
  CATCH_CHECK(changes[0].standing->attempt == 2);
  records.written(full);
  changes = records.take_unwritten(); // Once more, as it was not written.
  CATCH_REQUIRE(changes.size() == 1);
  CATCH_CHECK(changes[0].standing);
  records.written({});
  // A change of the record alone leaves what is in the history.
  records.set(run_of("a", run_state::running));
  changes = records.take_unwritten();
  CATCH_REQUIRE(changes.size() == 1);
  CATCH_CHECK_FALSE(changes[0].standing);
}
