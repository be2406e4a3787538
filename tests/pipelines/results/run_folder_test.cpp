#include "pipelines/results/run_folder.hpp"

#include "partition/files/file_io.hpp"
#include "pipelines/results/run_lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

unsigned rights_of(const std::filesystem::path& path) {
  struct stat about {};
  CATCH_REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777;
}

} // namespace

CATCH_TEST_CASE("a run folder is its owner's alone", "[kernels]") {
  const temp_folder folder;
  const auto mask = ::umask(0); // Which would let everybody in.
  auto run = value_of(run_folder::create(folder / "runs/", "r", "dataset: d\n",
                                         {folder.path(), {"1"}}));
  value_of(run.add_metrics({{"loss", 1}}));
  value_of(run.add_step({{"loss", 1}}));
  value_of(run.write_summary({{"run", "r"}}));
  ::umask(mask);
  CATCH_CHECK(rights_of(folder / "runs") == 0700u);
  CATCH_CHECK(rights_of(run.path()) == 0700u);
  const auto names = names_in(run.path());
  CATCH_CHECK(names
              == std::vector<std::string>{"definition.yaml", "metrics.jsonl",
                                          "run.json", "steps.jsonl",
                                          "summary.json"});
  for (const auto& name : names) {
    CATCH_INFO(name);
    CATCH_CHECK(rights_of(run.path() / name) == 0600u);
  }
}

CATCH_TEST_CASE("a run says what the labels are that it learns", "[kernels]") {
  const temp_folder folder;
  for (const auto kind : {label_kind::classes, label_kind::multi_label,
                          label_kind::regression, label_kind::links}) {
    const auto run = value_of(run_folder::create(
      folder / "runs", "r", "dataset: d\n",
      {folder.path(), {"1", {kind, "paper", 2, {"a", "\u00fc"}}}}));
    const auto again = value_of(run_folder::reopen(run.path()));
    CATCH_CHECK(again.from().learnt.labels.kind == kind);
    CATCH_CHECK(again.from().learnt.labels.type == "paper");
    CATCH_CHECK(again.from().learnt.labels.count == 2);
    CATCH_CHECK(again.from().learnt.labels.names
                == std::vector<std::string>{"a", "\u00fc"});
    CATCH_CHECK(again.from().learnt.dataset_digest == "1");
  }
  const auto said_by = [&folder](const std::string& labels) {
    value_of(write_file(folder / "run.json",
                        R"({"data": "d", "format_version": 1)" + labels + "}"));
    return run_folder::reopen(folder.path());
  };
  // One that does not say so is older than all labels but classes.
  CATCH_CHECK(value_of(said_by("")).from().learnt.labels.kind
              == label_kind::classes);
  CATCH_CHECK(value_of(said_by("")).from().learnt.labels.count == 0);
  const auto classes = [](const std::string& count, const std::string& names) {
    return R"(, "target": "paper", "class_count": )" + count
           + R"(, "class_names": )" + names;
  };
  CATCH_CHECK(value_of(said_by(classes("3", "[]"))).from().learnt.labels.count
              == 3);
  for (const auto& labels :
       {std::string{R"(, "labels": "edges")"}, std::string{R"(, "labels": 1)"},
        classes("-1", "[]"), classes("2", R"(["a"])"), classes("1", "[1]"),
        classes("\"1\"", "[]"), std::string{R"(, "class_count": 1)"}}) {
    const auto said = error_of(said_by(labels));
    CATCH_CHECK(said.code == ec::invalid_data);
    CATCH_CHECK_THAT(said.message,
                     contains("does not say what the labels of the run are"));
  }
}

CATCH_TEST_CASE("a run has come to its end if its summary and weights say so",
                "[kernels]") {
  const temp_folder folder;
  auto run = value_of(run_folder::create(folder / "runs", "r", "dataset: d\n",
                                         {folder.path(), {"1"}}));
  CATCH_CHECK(error_of(run.read_summary()).code == ec::not_found);
  const nlohmann::json whole{{"digest", "ab"}, {"error", nullptr}};
  value_of(run.write_summary(whole));
  CATCH_CHECK(run.summary_at_end().is_null());
  value_of(write_file(run.weights(), ""));
  CATCH_CHECK(run.summary_at_end() == whole);
  value_of(run.write_summary({{"digest", "ab"}, {"error", "no room"}}));
  CATCH_CHECK(run.summary_at_end().is_null());
  value_of(write_file(run.path() / "summary.json", "{"));
  CATCH_CHECK(run.summary_at_end().is_null());
  CATCH_CHECK(error_of(run.read_summary()).code == ec::invalid_data);
}

CATCH_TEST_CASE("a run that goes on has not come to its end any more",
                "[kernels]") {
  const temp_folder folder;
  auto run = value_of(run_folder::create(folder / "runs", "r", "dataset: d\n",
                                         {folder.path(), {"1"}}));
  value_of(run.write_summary({{"digest", "ab"}, {"error", nullptr}}));
  value_of(write_file(run.weights(), "w"));
  const auto none = nlohmann::json::array();
  value_of(run.go_back(none, {}, "dataset: e\n"));
  // Whoever is killed now has said nothing of the end of what goes on.
  CATCH_CHECK(run.summary_at_end().is_null());
  CATCH_CHECK(error_of(run.read_summary()).code == ec::not_found);
  CATCH_CHECK(std::filesystem::exists(run.weights()));
  value_of(run.go_back(none, {}, "dataset: e\n")); // There is none to remove.
}

CATCH_TEST_CASE("a folder that is gone is not taken for one that is no run",
                "[kernels]") {
  const temp_folder folder;
  const auto said = [](const std::filesystem::path& path) {
    return error_of(run_folder::reopen(path)).message;
  };
  CATCH_CHECK(said(folder / "gone").find("there is no run folder")
              != std::string::npos);
  CATCH_CHECK(said(folder.path()).find("it has no run.json")
              != std::string::npos);
}

CATCH_TEST_CASE("a run without weights is on, or did not come to its end",
                "[kernels]") {
  const temp_folder folder;
  std::filesystem::path path;
  {
    auto run = value_of(run_folder::create(folder / "runs", "r", "dataset: d\n",
                                           {folder.path(), {"1"}}));
    value_of(run.hold());
    path = run.path();
    const auto on = error_of(run_folder::open(path));
    CATCH_CHECK(on.code == ec::unavailable);
    CATCH_CHECK_THAT(on.message, contains("is on, and has no weights yet"));
  }
  const auto over = error_of(run_folder::open(path));
  CATCH_CHECK(over.code == ec::not_found);
  CATCH_CHECK_THAT(over.message, contains("did not come to its end"));
}

CATCH_TEST_CASE("a folder of runs that is there stays as it is", "[kernels]") {
  const temp_folder folder;
  const auto runs = folder / "runs";
  std::filesystem::create_directory(runs);
  std::filesystem::permissions(runs, std::filesystem::perms{0755});
  const auto run =
    value_of(run_folder::create(runs, "r", "", {folder.path(), {"1"}}));
  CATCH_CHECK(rights_of(runs) == 0755u);
  CATCH_CHECK(rights_of(run.path()) == 0700u);
}

CATCH_TEST_CASE("a run folder with a link or a pipe in it is refused",
                "[kernels]") {
  const temp_folder folder;
  const auto run = value_of(
    run_folder::create(folder / "runs", "r", "", {folder.path(), {"1"}}));
  value_of(write_text(folder / "victim", "precious"));
  for (const auto* name : {"definition.yaml", "run.json", "metrics.jsonl",
                           "sizes.json", "steps.jsonl", "weights.safetensors",
                           "summary.json", "log.txt", "checkpoints"}) {
    const auto path = run.path() / name;
    const auto aside = folder / "aside";
    const auto was = std::filesystem::exists(path);
    if (was)
      std::filesystem::rename(path, aside);
    const auto refused = [&](const char* what) {
      CATCH_INFO(name);
      const auto reason = error_of(run_folder::reopen(run.path()));
      CATCH_CHECK(reason.code == ec::permission);
      CATCH_CHECK(
        reason.message.starts_with(path.string() + " is a " + what + ","));
      std::filesystem::remove(path);
    };
    for (const auto* target : {"victim", "nowhere"}) {
      std::filesystem::create_symlink(folder / target, path);
      refused("link");
    }
    CATCH_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    refused("pipe");
    if (was)
      std::filesystem::rename(aside, path);
  }
  value_of(run_folder::reopen(run.path()));
}

CATCH_TEST_CASE("lines that no run writes are not read", "[kernels]") {
  const temp_folder folder;
  auto run = value_of(
    run_folder::create(folder / "runs", "r", "", {folder.path(), {"1"}}));
  const auto steps = run.path() / "steps.jsonl";
  const std::string first =
    "{\"phase\":\"train\",\"epoch\":2,\"step\":1,\"rank\":0}\n";
  const std::string blanks(run_lines::longest - first.size() + 1, ' ');
  const course_position at{.epoch = 1, .step = 1};
  CATCH_SECTION("zeros without end, which take no room on disk") {
    value_of(write_text(steps, first));
    std::filesystem::resize_file(steps, std::uintmax_t{1} << 40);
    CATCH_CHECK(run.has_steps_until(at, 1));
    value_of(run.go_back(nlohmann::json::array(), at, "dataset: e\n"));
    CATCH_CHECK(value_of(read_text(steps, 1000)) == first);
  }
  CATCH_SECTION("the longest line is") {
    value_of(write_text(steps, blanks + first + first));
    CATCH_CHECK(run.has_steps_until(at, 2));
  }
  CATCH_SECTION("a longer one is the end") {
    value_of(write_text(steps, first + ' ' + blanks + first + first));
    CATCH_CHECK(run.has_steps_until(at, 1));
  }
  CATCH_SECTION("the last one may lack its end") {
    value_of(write_text(steps, first + first.substr(0, first.size() - 1)));
    CATCH_CHECK(run.has_steps_until(at, 2));
  }
}

CATCH_TEST_CASE("lines of a run do not go where a link leads", "[kernels]") {
  const temp_folder folder;
  auto run = value_of(
    run_folder::create(folder / "runs", "r", "", {folder.path(), {"1"}}));
  value_of(write_text(folder / "victim", "precious"));
  std::filesystem::remove(run.metrics_file());
  std::filesystem::create_symlink(folder / "victim", run.metrics_file());
  std::filesystem::create_symlink(folder / "made", run.path() / "steps.jsonl");
  CATCH_CHECK(error_of(run.add_metrics({{"loss", 1}})).code == ec::permission);
  CATCH_CHECK(error_of(run.add_step({{"loss", 1}})).code == ec::permission);
  CATCH_CHECK(value_of(read_text(folder / "victim", 100)) == "precious");
  CATCH_CHECK_FALSE(std::filesystem::exists(folder / "made"));
  std::filesystem::remove(run.metrics_file());
  value_of(run.add_metrics({{"loss", 1}}));
  value_of(run.add_metrics({{"loss", 2}}));
  CATCH_CHECK(value_of(read_text(run.metrics_file(), 100))
              == "{\"loss\":1}\n{\"loss\":2}\n");
}

} // namespace graphmill::test
