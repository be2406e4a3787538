#include "tests/pipelines/definition/parsed_definition.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

// Where a definition is from: overrides on top of it, files, and examples.

namespace graphmill::test {

CATCH_TEST_CASE("overrides", "[definition]") {
  const auto file = "dataset: d\nsampler: {fanouts: {default: [3, 3], e: [1, "
                    "2]}}\n";
  const auto def =
    valid(file, {"sampler.replicas=3", "sampler.fanouts=[5,6]",
                 "sampler.fanouts.f=[7, 8]", "train.epochs=2", "train.epochs=4",
                 "budget.bytes=1 KiB", "name=other"});
  CATCH_CHECK(def.sampler.replicas == 3);
  CATCH_CHECK(def.sampler.fanouts == std::vector{5, 6});
  CATCH_CHECK(
    def.sampler.edge_fanouts
    == decltype(def.sampler.edge_fanouts){{"e", {1, 2}}, {"f", {7, 8}}});
  CATCH_CHECK(def.train.epochs == 4);
  CATCH_CHECK(def.budget.bytes == 1024);
  CATCH_CHECK(def.name == "other");
  CATCH_CHECK(valid("", {"dataset=d"}).dataset == "d");

  CATCH_CHECK(
    problems_in(file, {"sampler.replicas=many", "sampler.replica=2", "epochs=3",
                       "train", "=3", "train.=3", "train.epochs=", "train=3",
                       "sampler.fanouts=[1", "sampler.fanouts.e=[1]"})
    == texts{
      "--set sampler.replicas=many: `sampler.replicas` is `many`, must be "
      "a whole number from 1 to 64 stages",
      "--set sampler.replica=2: `replica` is not a field of `sampler`; did "
      "you mean `replicas`?",
      "--set epochs=3: `epochs` is not a field of a definition; it belongs "
      "to `train`",
      "--set train: must be FIELD=VALUE, as in train.epochs=3",
      "--set =3: must be FIELD=VALUE, as in train.epochs=3",
      "--set train.=3: does not name a field",
      "--set train.epochs=: `train.epochs` is empty, must be a whole "
      "number from 1 to 1000000 epochs",
      "--set train=3: `train` is `3`, must be a map with some of the keys "
      "batch_size, epochs, max_steps, seed_order, patience, "
      "record_steps, min_epochs, label_smoothing, balance_classes, "
      "class_weights, loss, patience_window, focal_gamma, link_loss, "
      "margin, temperature, exclude, shuffle",
      "--set sampler.fanouts=[1: not valid YAML: end of sequence flow not "
      "found",
      "--set sampler.fanouts.e=[1]: the fanouts of `e` are for 1 hops, "
      "those of `default` for 2",
    });
}

CATCH_TEST_CASE("a long setting is not said again in full", "[definition]") {
  std::string setting = "x";
  std::string begin = setting;
  for (int i = 0; i < 1000; ++i) {
    setting += "\u20ac"; // Three bytes.
    if (i < 65)
      begin = setting;
  }
  CATCH_CHECK(problems_in("dataset: d\n", {setting})
              == texts{"--set " + begin
                       + "...: must be FIELD=VALUE, as in train.epochs=3"});
}

CATCH_TEST_CASE("files that cannot be used", "[definition]") {
  CATCH_CHECK(problems_in("")
              == texts{"x.yaml:1:1: `dataset` is missing: Name of the dataset, "
                       "or its path; --data gives its folder"});
  CATCH_CHECK(problems_in("# nothing\n").size() == 1);
  CATCH_CHECK(problems_in("just words")[0].starts_with(
    "x.yaml:1:1: the definition is `just words`, must be a map"));
  CATCH_CHECK(problems_in("dataset: d\n---\ndataset: e\n")
              == texts{"x.yaml:1:1: more than one YAML document in the file"});
  CATCH_CHECK(
    problems_in("dataset: d\nmodel: {kind: sage\n")[0].starts_with("x.yaml:"));
  CATCH_CHECK(problems_in("dataset: &a d\nname: *a\n")
              == texts{"x.yaml:1:10: not valid YAML: anchors are not supported "
                       "here"});
  CATCH_CHECK(problems_in("dataset: !!python/object d\n")
              == texts{"x.yaml:1:10: not valid YAML: tags are not supported "
                       "here"});

  temp_folder folder;
  const auto problem_of_file = [](const std::filesystem::path& file) {
    const auto source = read_definition(file);
    CATCH_REQUIRE(source.problems.size() == 1);
    return source.problems[0].text;
  };
  CATCH_CHECK(problem_of_file(folder / "none.yaml")
              == "cannot open the definition: No such file or directory");
  CATCH_CHECK(problem_of_file(folder.path())
              == "cannot read the definition: Is a directory");
  const auto pipe = folder / "pipe.yaml";
  CATCH_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CATCH_CHECK(problem_of_file(pipe)
              == "the definition is no file, but a pipe, device or socket: "
                 "write it into a file");
  const auto failed = error_of(load_definition(folder / "none.yaml"));
  CATCH_CHECK(failed.code == ec::not_found);
  CATCH_CHECK(failed.message
              == (folder / "none.yaml").string()
                   + ": cannot open the definition: No such file or directory");

  std::ofstream{folder / "my run.yaml"} << "dataset: d\n";
  CATCH_CHECK(value_of(load_definition(folder / "my run.yaml")).value.name
              == "my-run");
}

CATCH_TEST_CASE("all examples are valid", "[definition]") {
  int seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{GRAPHMILL_EXAMPLES}) {
    if (entry.path().extension() != ".yaml")
      continue;
    ++seen;
    CATCH_CHECK(problems_of(read_definition(entry.path())) == texts{});
  }
  CATCH_CHECK(seen >= 4);
}

} // namespace graphmill::test
