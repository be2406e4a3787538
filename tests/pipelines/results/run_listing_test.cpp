#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/kept_checkpoints.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/results/run_listing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

run_folder some_run(const fs::path& runs, const std::string& name) {
  return value_of(run_folder::create(runs, name, "dataset: d\n",
                                     {"/somewhere/d", {"abc", {}, {}}}));
}

std::string name_of(const run_folder& of) {
  return of.path().filename().string();
}

} // namespace

CATCH_TEST_CASE("runs in a folder are listed with how they ended",
                "[kernels]") {
  const temp_folder top;
  const auto runs = top / "runs";
  auto finished = some_run(runs, "a");
  value_of(finished.write_summary(
    {{"error", nullptr}, {"cancelled", false}, {"digest", "d"}}));
  auto stopped = some_run(runs, "b");
  value_of(
    stopped.write_summary({{"error", "by the user"}, {"cancelled", true}}));
  auto failed = some_run(runs, "c");
  value_of(failed.write_summary({{"error", "disk"}, {"cancelled", false}}));
  auto on = some_run(runs, "d");
  value_of(on.hold());
  some_run(runs, "e");
  fs::create_directory(runs / "no-run");
  const auto found = value_of(list_runs(runs));
  CATCH_REQUIRE(found.size() == 5);
  for (const auto& run : found) {
    const auto wanted = run.name[0] == 'a'   ? listed_state::finished
                        : run.name[0] == 'b' ? listed_state::stopped
                        : run.name[0] == 'c' ? listed_state::failed
                        : run.name[0] == 'd' ? listed_state::on
                                             : listed_state::unfinished;
    CATCH_CHECK(run.state == wanted);
    CATCH_CHECK(run.size.all > 0);
    CATCH_CHECK(run.size.checkpoints == 0);
  }
  CATCH_CHECK(has(error_of(list_runs(top / "nowhere")).message,
                  "cannot list the runs in"));
}

CATCH_TEST_CASE("only the folder of a run is removed", "[kernels]") {
  const temp_folder top;
  const auto runs = top / "runs";
  const auto name = name_of(some_run(runs, "a"));
  std::ofstream{runs / name / "more.txt"} << "1234";
  fs::create_directory(runs / "thesis");
  std::ofstream{runs / "thesis" / "text"} << "years of work";
  fs::create_directory_symlink(runs / name, runs / "link");
  for (const auto& other : std::vector<std::string>{
         "thesis", "link", "../runs/" + name, "..", ".", "", "none"}) {
    CATCH_INFO(other);
    CATCH_CHECK_FALSE(remove_run(runs, other));
  }
  CATCH_CHECK(value_of(remove_run(runs, name)).all > 4);
  CATCH_CHECK_FALSE(fs::exists(runs / name));
  CATCH_CHECK(fs::exists(runs / "thesis" / "text"));
  auto on = some_run(runs, "b");
  value_of(on.hold());
  CATCH_CHECK(has(error_of(remove_run(runs, name_of(on))).message, "is on"));
  CATCH_CHECK(fs::exists(on.definition()));
}

CATCH_TEST_CASE("a run that may be queued is not removed", "[kernels]") {
  const temp_folder top;
  auto run = some_run(top.path(), "a");
  std::ofstream{top / "runs.sqlite"} << "";
  CATCH_CHECK(has(error_of(remove_run(top.path(), name_of(run))).message,
                  "may be in the queue of the coordinator"));
  value_of(run.write_summary({{"error", nullptr}}));
  CATCH_CHECK(remove_run(top.path(), name_of(run)));
}

CATCH_TEST_CASE("of a run that has ended one checkpoint stays", "[kernels]") {
  CATCH_CHECK(kept_at_end(0) == 0);
  CATCH_CHECK(kept_at_end(1) == 1);
  CATCH_CHECK(kept_at_end(2) == 1);
  CATCH_CHECK(kept_at_end(5) == 5);
  const temp_folder folder;
  for (const auto* name :
       {"0000001-0000000000", "0000002-0000000000", "0000003-0000000000"})
    fs::create_directory(folder / name);
  value_of(keep_newest(folder.path(), 1));
  CATCH_CHECK(checkpoints_in(folder.path())
              == std::vector<std::string>{"0000003-0000000000"});
}

} // namespace graphmill::test
