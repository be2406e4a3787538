#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <future>
#include <map>
#include <string>
#include <utility>

namespace graphmill::test {

CATCH_TEST_CASE("what is wrong with a command line is said, as JSON, too",
                "[cluster_commands]") {
  const user user{"nobody:1"};
  const std::pair<const char*, const char*> lines[]{
    {"import csv --edgs x --out y",
     "`import csv` has no option `--edgs`; did you mean `--edges`?"},
    {"import csw --out y",
     "`import` has no command `csw`; did you mean `csv`?"},
    {"import pyg graph.pt --out y",
     "`import` has no command `pyg`: examples/to_graphmill.py reads graphs"},
    {"foo", "`graphmill` has no command `foo`\n"},
    {"help trian", "there is no help on `trian`; there is on definition, "},
    {"statsu", "`graphmill` has no command `statsu`; did you mean `status`?"},
    {"submit good.yaml --clus tcp://h:1",
     "`submit` has no option `--clus`; did you mean `--cluster`?"},
    {"partition x --parts 2 y", "`partition` takes no `y` here"},
    {"partition x --parts 0", "--parts"},
    {"runs --limit 0", "--limit"},
    {"submit", "file is required"},
    {"status --daemon a", "--daemon requires run"},
    {"submit good.yaml --split train", "--split needs --evaluate or --predict"},
    {"submit --evaluate r --predict r", " excludes --"},
    {"submit --evaluate r --split all", "--split: "},
    {"train --tensorboard good.yaml --quiet",
     "file is required; `--tensorboard` has read `good.yaml` as its own value: "
     "move it behind other words"},
    {"up good.yaml", "--local N on this machine"},
    {"resume", "say what to continue: the folder"},
    {"resume --cluster h:1", "say what the cluster should continue"},
    {"stop", "name the daemon to stop"},
    {"logs --level loud", "--level: "},
    {"submit good.yaml --grid model.hidden",
     "--grid: `model.hidden`: write a field and its values"},
    {"submit good.yaml --grid model.hidden=8,8", "a value is there twice"},
    {"predict r --all --neighbours sampled", "--all takes all neighbours"},
    {"predict r --embeddings-of a", "--embeddings-of needs --all"},
    {"predict r --all --embeddings-of a --embeddings-of a",
     "--embeddings-of names `a` twice"},
    {"predict r --scratch d", "--scratch is for layers of --all"},
    {"chaos", "a plan takes --seed and --during"}};
  for (const auto& [line, sentence] : lines) {
    CATCH_INFO(line);
    const auto got = user.runs(line);
    CATCH_CHECK(got.code == 2);
    CATCH_CHECK(got.output.empty());
    CATCH_CHECK_THAT(got.errors, contains(sentence));
    const auto asked = user.runs(std::string{line} + " --json");
    CATCH_CHECK(asked.code == 2);
    const auto json = nlohmann::json::parse(asked.output);
    CATCH_CHECK(json["code"] == "invalid_argument");
    CATCH_CHECK(asked.errors.starts_with(json["error"].get<std::string>()));
  }
  CATCH_CHECK(user.runs("status --help").code == 0);
}

CATCH_TEST_CASE("a daemon is not started with words that make no sense",
                "[cluster_commands]") {
  const user user{"nobody:1"};
  const std::pair<const char*, const char*> lines[]{
    {"--serve 3-1", "the range `3-1` ends before it begins"},
    {"--serve x", "--serve: "},
    {"--standby --join tcp://h:1", "--join excludes --standby"}};
  for (const auto& [line, sentence] : lines) {
    const auto got = user.runs(std::string{"node --data nowhere "} + line);
    CATCH_INFO(line);
    CATCH_CHECK(got.code == 2);
    CATCH_CHECK_THAT(got.errors, contains(sentence));
  }
}

CATCH_TEST_CASE("a single fault says which flags it needs",
                "[cluster_commands]") {
  const user user{"nobody:1"};
  const std::pair<const char*, const char*> lines[]{
    {"", "name the one by --kinds"},
    {"--kinds stop", "--kinds stop needs --lasts"},
    {"--kinds disk", "--kinds disk needs --lasts"},
    {"--kinds delay --lasts 5", "--kinds delay needs --each"},
    {"--kinds corrupt", "--kinds corrupt needs --messages"},
    {"--kinds kill --at lunch", "--at lunch is no moment"}};
  for (const auto& [line, sentence] : lines) {
    const auto got = user.runs(std::string{"chaos --daemon b "} + line);
    CATCH_INFO(line);
    CATCH_CHECK(got.code == 2);
    CATCH_CHECK_THAT(got.errors, contains(sentence));
  }
}

CATCH_TEST_CASE("what is to be done with a key stands on lines of its own",
                "[cluster_commands]") {
  const user user{"nobody:1"};
  const auto first = user.runs("keygen --coordinator first");
  CATCH_CHECK(first.code == 0);
  CATCH_CHECK_THAT(first.output,
                   contains("Keep it secret.\ngraphmill.members "));
  CATCH_CHECK(first.output.ends_with("--client NAME.\n"));
  const auto alice = user.runs("keygen --client alice");
  CATCH_CHECK_THAT(alice.output, contains("graphmill.members.\nMove "));
  CATCH_CHECK(alice.output.ends_with("GRAPHMILL_KEY.\n"));
  const auto second = user.runs("keygen --daemon second");
  CATCH_CHECK(second.output.ends_with("--join ...`.\n"));
}

CATCH_TEST_CASE("every command says that nobody is there",
                "[cluster_commands]") {
  // All at once, for each tries for seconds.
  const auto nobody = address_of_nobody();
  std::map<std::string, std::future<finished>> said;
  for (const std::string command :
       {"submit good.yaml -w", "status", "fetch", "runs", "logs", "events",
        "cancel r", "drain d", "watch", "trace"})
    said[command] = std::async(std::launch::async, [nobody, command] {
      return user{nobody}.runs(command + " --json");
    });
  for (auto& [command, end] : said) {
    const auto got = end.get();
    CATCH_INFO(command);
    CATCH_CHECK(got.code == 1);
    CATCH_CHECK_THAT(got.errors,
                     contains("graphmill: nobody answers at tcp://127.0.0.1:"));
    const auto json = nlohmann::json::parse(got.output);
    CATCH_CHECK(json["code"] == "unavailable");
    CATCH_CHECK_THAT(json["error"].get<std::string>(),
                     contains("nobody answers at tcp://127.0.0.1:"));
  }
}

} // namespace graphmill::test
