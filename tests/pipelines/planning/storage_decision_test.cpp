#include "pipelines/planning/storage_decision.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;

namespace {

constexpr std::uint64_t mib = 1 << 20;

definition some_definition() {
  definition def;
  def.budget.bytes = 1024 * mib;
  return def;
}

/// A run of 4 batches of 20 MiB, and 36 MiB of parameters.
run_plan some_plan() {
  run_plan plan;
  plan.train.bytes = 20 * mib;
  plan.evaluation.bytes = 10 * mib;
  plan.batches_in_flight = 4;
  plan.memory = {{batches_entry, 1024 * mib},
                 {"parameters and optimizer", 36 * mib},
                 {allowance_entry, 400 * mib}};
  return plan;
}

storage_decision planned(storage_kind storage, std::uint64_t room,
                         part_bytes data = {400 * mib, 100 * mib}) {
  return decide_storage(some_definition(), some_plan(), {storage, 0}, data,
                        {room, "a test"});
}

} // namespace

CATCH_TEST_CASE("what fits is used in memory, what does not comes from disk",
                "[definition][storage]") {
  // 80 MiB of batches, 36 of parameters, 64 for the rest, 500 of data
  const auto fits = planned(storage_kind::automatic, 680 * mib);
  CATCH_CHECK(!fits.from_disk);
  CATCH_CHECK(fits.batch_bytes == 1024 * mib);
  const auto tight = planned(storage_kind::automatic, 680 * mib - 1);
  CATCH_CHECK(tight.from_disk);
  CATCH_CHECK(tight.batch_bytes == 80 * mib);
  CATCH_CHECK(tight.memory.pages == 100 * mib);
  CATCH_CHECK(tight.memory.row_cache == 400 * mib - 1);
  CATCH_CHECK(sentence(tight).find("do not fit into") != std::string::npos);
  CATCH_CHECK(sentence(tight).find("a test") != std::string::npos);
}

CATCH_TEST_CASE("with little memory, batches get half of it",
                "[definition][storage]") {
  const auto little = planned(storage_kind::automatic, 200 * mib);
  CATCH_CHECK(little.batch_bytes == 50 * mib);
  CATCH_CHECK(little.memory.pages == 25 * mib);
  CATCH_CHECK(little.memory.row_cache == 25 * mib);
  const auto none = planned(storage_kind::automatic, 0);
  CATCH_CHECK(none.from_disk);
  CATCH_CHECK(none.batch_bytes == 1);
  CATCH_CHECK(none.memory.row_cache == 0);
}

CATCH_TEST_CASE("a command may say where data are read from",
                "[definition][storage]") {
  CATCH_CHECK(!planned(storage_kind::memory, 0).from_disk);
  const auto disk = planned(storage_kind::disk, 100000 * mib);
  CATCH_CHECK(disk.from_disk);
  CATCH_CHECK(disk.memory.row_cache == 500 * mib);
  const auto chosen = decide_storage(some_definition(), some_plan(),
                                     {storage_kind::disk, 7 * mib},
                                     {400 * mib, 100 * mib}, {0, "a test"});
  CATCH_CHECK(chosen.memory.row_cache == 7 * mib);
}

CATCH_TEST_CASE("a process may be told to count on less memory than there is",
                "[definition][storage]") {
  const auto told = [](std::uint64_t memory, std::uint64_t room) {
    return decide_storage(some_definition(), some_plan(),
                          {storage_kind::automatic, 0, memory},
                          {400 * mib, 100 * mib}, {room, "a test"});
  };
  CATCH_CHECK(!told(680 * mib, 9000 * mib).from_disk);
  const auto tight = told(680 * mib - 1, 9000 * mib);
  CATCH_CHECK(tight.from_disk);
  CATCH_CHECK(tight.memory.row_cache == 400 * mib - 1);
  CATCH_CHECK(sentence(tight).find("--memory") != std::string::npos);
  // It cannot be told to count on more.
  CATCH_CHECK(told(9000 * mib, 680 * mib - 1).from_disk);
}

CATCH_TEST_CASE("runs that are on at once count on equal parts of the memory",
                "[definition][storage]") {
  const auto shared = [](std::uint32_t sharers, std::uint64_t memory,
                         std::uint64_t room) {
    return decide_storage(some_definition(), some_plan(),
                          {storage_kind::automatic, 0, memory, sharers},
                          {400 * mib, 100 * mib}, {room, "a test"});
  };
  CATCH_CHECK(!shared(1, 0, 680 * mib).from_disk);
  CATCH_CHECK(!shared(3, 0, 3 * 680 * mib).from_disk);
  const auto tight = shared(3, 0, 3 * 680 * mib - 1);
  CATCH_CHECK(tight.from_disk);
  CATCH_CHECK(tight.room.bytes == 680 * mib - 1);
  CATCH_CHECK(sentence(tight).find("a test, shared by 3 runs")
              != std::string::npos);
  // All that they take of it together is what one alone could take.
  CATCH_CHECK(3
                * (shared(3, 0, 600 * mib).memory.row_cache
                   + shared(3, 0, 600 * mib).batch_bytes)
              <= 600 * mib);
  const auto told = shared(2, 2 * 680 * mib - 2, 90000 * mib);
  CATCH_CHECK(told.from_disk);
  CATCH_CHECK(sentence(told).find("--memory allows, shared by 2 runs")
              != std::string::npos);
}

CATCH_TEST_CASE("the memory of a run counts the cache of rows from disk",
                "[definition][storage]") {
  auto plan = some_plan();
  const auto before = plan.total_memory();
  add_storage(plan, planned(storage_kind::memory, 0));
  CATCH_CHECK(plan.total_memory() == before);
  add_storage(plan, planned(storage_kind::automatic, 680 * mib - 1));
  CATCH_CHECK(plan.total_memory()
              == 80 * mib + 36 * mib + 400 * mib + 400 * mib - 1 + 4 * mib);
}
