#include "actors/cluster/history/run_journal.hpp"
#include "actors/cluster/history/run_records.hpp"
#include "tests/actors/cluster/history/histories.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace graphmill::test::attempt_numbers {

namespace {

using numbers = std::vector<std::uint32_t>;

/// A coordinator with one run, whose attempts all break. It writes and deploys
/// as the COORDINATOR does: nothing is deployed before its number is written.
class leader {
public:
  /// Takes the run up that the history has.
  /// @param steps After so many it dies, whatever it is at: each change of the
  /// history has one before it and one behind, each deployment one behind.
  leader(const std::filesystem::path& file, std::size_t steps)
    : history_(value_of(open_history(file))), steps_(steps) {
    const auto open = history_.take_open_runs();
    CATCH_REQUIRE(open.size() == 1);
    run_ = open.front().record;
    standing_ = open.front().standing;
    standing_.attempt = open.front().next_attempt();
    records_.add(run_);
    run_.state = run_state::queued;
    if (open.front().was_on())
      note();
  }

  /// Leads attempts to the end of its life. @returns the numbers that daemons
  /// have been told.
  numbers lead(std::size_t attempts) {
    numbers out;
    while (out.size() < attempts) {
      run_.state = run_state::running;
      note();
      if (is_dead_)
        break;
      CATCH_CHECK(records_.all_written());
      out.push_back(standing_.attempt);
      step();
      run_.state = run_state::queued;
      ++standing_.attempt;
      note();
    }
    return out;
  }

private:
  void step() {
    if (steps_ == 0)
      is_dead_ = true;
    else
      --steps_;
  }

  void note() {
    if (is_dead_)
      return;
    records_.set(run_, standing_);
    CATCH_CHECK_FALSE(records_.all_written());
    step();
    if (is_dead_)
      return;
    value_of(history_.put(records_.take_unwritten()));
    records_.written(std::nullopt);
    step();
  }

  run_history history_;
  run_records records_;
  run_record run_;
  run_standing standing_;
  std::size_t steps_;
  bool is_dead_ = false;
};

} // namespace

CATCH_TEST_CASE("no two attempts have one number, whenever a coordinator dies",
                "[run_journal]") {
  struct row {
    std::size_t steps; ///< Of the first coordinator.
    numbers first;
    std::uint32_t then; ///< Number of the next coordinator's first attempt.
  };
  const std::vector<row> table{
    {0, {}, 1},     // The history has it in the queue still.
    {1, {}, 2},     // It has the number, which no daemon has heard.
    {2, {1}, 2},    // They have now,
    {3, {1}, 2},    // and the next number is not written yet,
    {4, {1}, 2},    // and is.
    {5, {1}, 2},    // The run is to leave the queue again,
    {6, {1}, 3},    // has left it, but nothing is deployed,
    {7, {1, 2}, 3}, // and is deployed.
  };
  constexpr std::size_t long_life = 100;
  for (const auto& [steps, first, then] : table) {
    CATCH_INFO("the first one dies after " << steps << " steps");
    temp_folder folder;
    const auto file = folder / "runs.sqlite";
    {
      auto history = value_of(open_history(file));
      const run_history::entry submitted{run_of("r", 1, run_state::queued),
                                         "dataset: r", run_standing{}};
      value_of(history.put({&submitted, 1}));
    }
    CATCH_CHECK(leader{file, steps}.lead(2) == first);
    // One that dies before it does anything changes nothing.
    CATCH_CHECK(leader{file, 0}.lead(2).empty());
    CATCH_CHECK(leader{file, long_life}.lead(2) == numbers{then, then + 1});
  }
}

} // namespace graphmill::test::attempt_numbers
