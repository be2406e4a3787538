#include "tests/support/catch.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <fstream>
#include <string>

using namespace graphmill;

namespace {

struct finished {
  int code = -1;
  std::string output; ///< Standard output.
  std::string errors; ///< Standard error.
};

/// Runs the program in a folder.
finished graphmill_in(const test::temp_folder& folder,
                      const std::string& arguments) {
  const auto command = "cd '" + folder.path().string() + "' && '"
                       + GRAPHMILL_PROGRAM + "' " + arguments
                       + " > out.txt 2> err.txt";
  const auto status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          test::content_of(folder / "out.txt"),
          test::content_of(folder / "err.txt")};
}

} // namespace

CATCH_TEST_CASE("validate and plan from the command line", "[commands]") {
  test::temp_folder folder;
  CATCH_REQUIRE(graphmill_in(folder, "import rmat --scale 6 --out data/rmat-6 "
                                     "--quiet")
                  .code
                == 0);
  std::ofstream{folder / "good.yaml"} << "dataset: rmat-6\n";
  std::ofstream{folder / "bad.yaml"} << "dataset: rmat-6\n"
                                        "train: {epoch: 3}\n"
                                        "model: {kind: cnn}\n";

  auto got = graphmill_in(folder, "validate good.yaml");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output
              == "good.yaml: valid for the dataset rmat-6 in data/rmat-6\n");
  CATCH_CHECK(got.errors.empty());

  got = graphmill_in(folder, "validate bad.yaml --set train.epochs=x --json");
  CATCH_CHECK(got.code == 1);
  const auto answer = nlohmann::json::parse(got.output);
  CATCH_CHECK(answer["valid"] == false);
  CATCH_REQUIRE(answer["problems"].size() == 3);
  CATCH_CHECK(answer["problems"][0]["line"] == 2);
  CATCH_CHECK(answer["problems"][0]["column"] == 9);
  CATCH_CHECK(answer["problems"][2]["origin"] == "--set train.epochs=x");
  CATCH_CHECK(got.errors.find("bad.yaml:3:15: `model.kind` is `cnn`")
              != std::string::npos);

  got = graphmill_in(folder, "validate good.yaml --data elsewhere");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK(got.errors.find("there is no folder elsewhere")
              != std::string::npos);

  got = graphmill_in(folder, "plan good.yaml --data data --json "
                             "--set trainer.replicas=2");
  CATCH_CHECK(got.code == 0);
  const auto plan = nlohmann::json::parse(got.output);
  CATCH_CHECK(plan["stages"].size() == 7);
  CATCH_CHECK(plan["batches_in_flight"] == 8);
  CATCH_CHECK(plan["total_memory_bytes"] > plan["budget_bytes"]);

  got = graphmill_in(folder, "plan bad.yaml");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK(got.errors.find("did you mean `epochs`?") != std::string::npos);
}

CATCH_TEST_CASE("a graph that no seed sees is noted", "[commands]") {
  test::temp_folder folder;
  std::ofstream{folder / "films.csv"}
    << "id,label,split\nf,0,train\ng,1,train\nh,0,val\ni,1,test\n";
  std::ofstream{folder / "plays.csv"} << "source,destination\nf,a\ng,b\n";
  CATCH_REQUIRE(graphmill_in(folder,
                             "import csv --nodes film=films.csv --edges "
                             "film__with__actor=plays.csv --out data/films -q")
                  .code
                == 0);
  std::ofstream{folder / "r.yaml"} << "dataset: films\nmodel: {kind: rgcn}\n";
  const std::string note = "no edge ends at nodes of type `film`";
  auto got = graphmill_in(folder, "validate r.yaml --json");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.errors.find("warning: " + note) == 0);
  CATCH_CHECK(nlohmann::json::parse(got.output)["notes"].size() == 1);
  got = graphmill_in(folder, "inspect data/films -q");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output.find("warning: " + note) != std::string::npos);
  got = graphmill_in(folder, "plan r.yaml --json");
  CATCH_CHECK(nlohmann::json::parse(got.output)["notes"].size() == 1);
  got = graphmill_in(folder, "validate r.yaml --set model.kind=mlp");
  CATCH_CHECK(got.errors.empty());
}

CATCH_TEST_CASE("help from the command line", "[commands]") {
  test::temp_folder folder;
  auto got = graphmill_in(folder, "help definition");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.output.find("from 1 to 16777216 seeds") != std::string::npos);
  got = graphmill_in(folder, "help definition --json");
  CATCH_CHECK(nlohmann::json::parse(got.output).size() > 30);
  got = graphmill_in(folder, "help validate");
  CATCH_CHECK(got.output.find("graphmill validate") != std::string::npos);
  CATCH_CHECK(graphmill_in(folder, "help").output.find("validate")
              != std::string::npos);
  got = graphmill_in(folder, "help definitoin");
  CATCH_CHECK(got.code == 2);
  CATCH_CHECK(got.errors.find("did you mean `definition`?")
              != std::string::npos);
}
