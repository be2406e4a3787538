#include "tests/actors/cluster/fake_coordinator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

struct finished {
  int code = -1;
  std::string output; ///< Standard output.
  std::string errors; ///< Standard error.
};

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A user at a shell in a folder of theirs. No command may take a minute.
class user {
public:
  explicit user(std::string cluster) : cluster_(std::move(cluster)) {
    std::ofstream{folder_ / "good.yaml"} << "dataset: cora\n"
                                            "train: {epochs: 2}\n";
    std::ofstream{folder_ / "bad.yaml"} << "dataset: cora\n"
                                           "train: {epoch: 2}\n";
  }

  finished runs(const std::string& arguments,
                const std::string& within = "timeout 60") const {
    const auto command = "cd '" + folder_.path().string()
                         + "' && GRAPHMILL_CLUSTER='" + cluster_ + "' " + within
                         + " '" GRAPHMILL_PROGRAM "' " + arguments
                         + " > out.txt 2> err.txt";
    const auto status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            content_of(folder_ / "out.txt"), content_of(folder_ / "err.txt")};
  }

  nlohmann::json asks(const std::string& arguments) const {
    const auto got = runs(arguments + " --json");
    CATCH_INFO(got.errors);
    CATCH_CHECK(got.code == 0);
    return nlohmann::json::parse(got.output);
  }

  const temp_folder& folder() const { return folder_; }

private:
  std::string cluster_;
  temp_folder folder_;
};

bool has(const std::string& text, const std::string& part) {
  CATCH_INFO(text);
  CATCH_CHECK(text.find(part) != std::string::npos);
  return true;
}

result<payload> take_run(const payload& body) {
  TRY(const auto def, decode_definition_body(body));
  if (def.trainer.replicas > 4)
    return fail(ec::invalid_argument, "the cluster takes 4 trainers, not {}",
                def.trainer.replicas);
  return encode_run_id(def.name + "-1");
}

run_record record(run_state state) {
  run_record out;
  out.id = out.name = "good-1";
  out.state = state;
  out.submitted = unix_time{1700000000000};
  return out;
}

run_news metrics(const char* phase, int epoch, double accuracy) {
  return {nlohmann::json{{"phase", phase},
                         {"epoch", epoch},
                         {"steps", 4},
                         {"seeds", 1000},
                         {"loss", 1.5},
                         {"accuracy", accuracy},
                         {"learning_rate", 0.01},
                         {"seconds", 0.5}}
            .dump(),
          {},
          0,
          0};
}

const nlohmann::json summary{{"test_accuracy", 0.8125},
                             {"validation_accuracy", 0.75},
                             {"epochs", 2},
                             {"seconds", 1.0},
                             {"steps", 8},
                             {"digest", "abc"},
                             {"run", "/there/good-1"}};

/// A run of two epochs, told in two answers of which the first is repeated
/// until somebody has asked with a later cursor.
result<payload> tell_run(const payload& body, run_record last) {
  TRY(const auto what, decode_watch_request(body));
  if (what.run != "good-1")
    return fail(ec::not_found, "no run {}", what.run);
  watch_reply out;
  out.record = std::move(last);
  const std::vector all{
    run_news{{}, "train epoch 1", 1, 4}, metrics("train", 1, 0.25),
    metrics("validation", 1, 0.5),       metrics("train", 2, 0.625),
    metrics("validation", 2, 0.75),      metrics("test", 2, 0.8125)};
  const auto end = std::min<std::uint64_t>(what.cursor + 3, all.size());
  for (auto i = what.cursor; i < end; ++i)
    out.events.push_back(all[i]);
  out.next = end;
  return encode(out);
}

} // namespace

CATCH_TEST_CASE("a run is submitted and watched", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::finished);
  end.summary = summary.dump();
  coordinator.on(method::watch,
                 [&end](const payload& body) { return tell_run(body, end); });

  CATCH_CHECK(user.asks("submit good.yaml")
              == nlohmann::json{{"run", "good-1"}});
  auto got = user.runs("submit good.yaml --watch");
  CATCH_CHECK(got.code == 0);
  has(got.output, "validation  learning rate");
  has(got.output, "    1      1.5000    0.2500      0.5000           0.01");
  has(got.output, "    2      1.5000    0.6250      0.7500           0.01");
  has(got.output, "test accuracy    0.8125\n");
  has(got.errors, "run good-1 submitted to " + coordinator.address());
  has(got.errors, "train epoch 1");

  got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 0);
  CATCH_CHECK(got.errors.empty());
  CATCH_CHECK(nlohmann::json::parse(got.output) == summary);

  got = user.runs("submit good.yaml --set trainer.replicas=9");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "the cluster takes 4 trainers, not 9");

  // Never sent.
  const auto before = coordinator.count(method::submit);
  got = user.runs("submit bad.yaml");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "did you mean `epochs`?");
  CATCH_CHECK(coordinator.count(method::submit) == before);
}

CATCH_TEST_CASE("how a watched run ends is how the command ends",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  coordinator.on(method::submit, take_run);
  auto end = record(run_state::failed);
  end.message = "daemon \"b\" is lost";
  coordinator.on(method::watch,
                 [&end](const payload& body) { return tell_run(body, end); });
  auto got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK(got.output.empty());
  CATCH_CHECK(got.errors
              == "graphmill: run good-1 failed: daemon \"b\" is lost\n");
  end = record(run_state::cancelled);
  end.summary = summary.dump();
  got = user.runs("submit good.yaml --watch --json -q");
  CATCH_CHECK(got.code == 130);
  CATCH_CHECK(nlohmann::json::parse(got.output) == summary);
  has(got.errors, "run good-1 was cancelled");
  end = record(run_state::finished);
  end.summary = "not [json";
  CATCH_CHECK(user.runs("submit good.yaml --watch").code == 0);
  coordinator.on(method::watch, [](const payload&) -> result<payload> {
    watch_reply out;
    out.events = {{"{\"phase\": \"lunch\"}", {}, 0, 0}};
    out.next = 1;
    return encode(out);
  });
  got = user.runs("submit good.yaml --watch -q");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "unknown phase");
}

CATCH_TEST_CASE("watching goes on when the coordinator is back",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  std::atomic<int> asked{0};
  auto end = record(run_state::failed);
  end.message = "the coordinator ended while it was on";
  coordinator.on(method::runs, [](const payload&) -> result<payload> {
    return encode(std::vector{record(run_state::running)});
  });
  coordinator.on(method::watch, [&](const payload& body) -> result<payload> {
    if (++asked > 1)
      return tell_run(body, end);
    TRY(auto told, tell_run(body, record(run_state::running)));
    return told;
  });
  std::thread breaks{[&] {
    while (asked == 0)
      std::this_thread::sleep_for(10ms);
    coordinator.restart();
  }};
  const auto got = user.runs("watch");
  breaks.join();
  CATCH_CHECK(got.code == 1);
  has(got.errors, "run good-1 failed: the coordinator ended while it was on");
}

CATCH_TEST_CASE("a signal ends watching, not the run", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  coordinator.on(method::submit, take_run);
  coordinator.on(method::watch, [](const payload& body) -> result<payload> {
    std::this_thread::sleep_for(50ms);
    TRY(const auto what, decode_watch_request(body));
    watch_reply out;
    out.next = what.cursor;
    out.record = record(run_state::running);
    return encode(out);
  });
  // Ctrl-C after three seconds.
  const auto got =
    user.runs("submit good.yaml --watch", "timeout --preserve-status -s INT 3");
  CATCH_CHECK(got.code == 130);
  has(got.errors, "graphmill cancel good-1");
  CATCH_CHECK(coordinator.count(method::cancel) == 0);
}

CATCH_TEST_CASE("the cluster is shown", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.coordinator = "a";
    out.dataset = "cora";
    out.parts = 6;
    out.running = "good-1";
    out.queued = {"good-2"};
    out.daemons = {{"a",
                    "tcp://10.0.0.1:7800",
                    daemon_state::ready,
                    {0, 1, 2, 4},
                    2,
                    "one",
                    ""},
                   {"b",
                    "tcp://10.0.0.2:7800",
                    daemon_state::lost,
                    {3, 5},
                    1,
                    "two",
                    "silent for 3000 ms"}};
    return encode(out);
  });
  const auto got = user.runs("status");
  CATCH_CHECK(got.code == 0);
  has(got.output, "running      good-1\nqueued       good-2\n");
  has(got.output,
      "a       ready     one   tcp://10.0.0.1:7800  0-2,4      2\n");
  has(got.output, "silent for 3000 ms\n");
  has(got.output, "no daemon in service has part 3,5: no run can start");
  const auto json = user.asks("status");
  CATCH_CHECK(json["running"] == "good-1");
  CATCH_CHECK(json["daemons"][1]["state"] == "lost");
  CATCH_CHECK(json["daemons"][0]["parts"] == std::vector{0, 1, 2, 4});

  coordinator.on(method::plan, [](const payload& body) -> result<payload> {
    TRY(const auto def, decode_definition_body(body));
    return encode(plan_reply{{"a", "b", "a"}, {"b"}});
  });
  const auto address = " --cluster " + coordinator.address();
  has(user.runs("plan good.yaml" + address).output,
      "daemon  parts  trainer ranks\na       0,2    -\nb       1      0\n");
  CATCH_CHECK(user.asks("plan good.yaml" + address)["daemons"][0]
              == nlohmann::json{{"name", "a"},
                                {"parts", {0, 2}},
                                {"ranks", nlohmann::json::array()}});
}

CATCH_TEST_CASE("runs are listed, cancelled and fetched",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address()};
  auto run = record(run_state::running);
  run.started = unix_time{1700000001000};
  coordinator.on(method::runs, [&run](const payload& body) -> result<payload> {
    TRY(const auto what, decode_runs_request(body));
    std::vector<run_record> out;
    if (what.run.empty() || what.run == run.id)
      out.push_back(run);
    return encode(out);
  });
  const std::string log(5000, 'x');
  coordinator.on(
    method::fetch_file, [&log](const payload& body) -> result<payload> {
      TRY(const auto what, decode_file_request(body));
      file_reply out;
      if (what.file.empty())
        out.files = {"log.txt"};
      else if (what.file != "log.txt")
        return fail(ec::not_found, "no {}", what.file);
      else {
        out.size = log.size();
        const auto piece =
          std::as_bytes(std::span{log})
            .subspan(what.offset,
                     std::min<std::size_t>(1000, log.size() - what.offset));
        out.bytes.assign(piece.begin(), piece.end());
      }
      return encode(out);
    });
  CATCH_CHECK(user.runs("logs").output == log);
  CATCH_CHECK(user.asks("logs good-1")["log"] == log);
  auto got = user.runs("fetch good-1");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "run good-1 is running");
  got = user.runs("logs nothing");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "knows no run nothing");

  run.state = run_state::finished;
  run.ended = unix_time{1700000201000};
  run.summary = summary.dump();
  CATCH_CHECK(user.runs("logs -f").output == log);
  has(user.runs("runs").output, "3 min 20 s    0.8125");
  const auto json = user.asks("runs")["runs"][0];
  CATCH_CHECK(json["state"] == "finished");
  CATCH_CHECK(json["ended"] == 1700000201.0);
  CATCH_CHECK(json["summary"] == summary);
  CATCH_CHECK(user.asks("fetch")["folder"] == "runs/good-1");
  CATCH_CHECK(content_of(user.folder() / "runs/good-1/log.txt") == log);
  got = user.runs("fetch");
  CATCH_CHECK(got.code == 1);
  has(got.errors, "is there already");

  std::string orders;
  coordinator.on(method::cancel, [&](const payload& body) -> result<payload> {
    TRY(const auto what, decode_cancel_request(body));
    orders += "cancel " + what.run + (what.now ? " now;" : ";");
    return payload{};
  });
  for (const auto which : {method::drain, method::stop})
    coordinator.on(which, [&, which](const payload& body) -> result<payload> {
      TRY(const auto what, decode_node_request(body));
      orders += std::string{to_string(which)} + ' ' + what.name
                + (what.back ? " back;" : ";");
      return payload{};
    });
  for (const auto* command :
       {"cancel r", "cancel r --now", "drain b", "drain b --back", "stop b",
        "stop --all", "cancel r --json"})
    CATCH_CHECK(user.runs(command).code == 0);
  CATCH_CHECK(orders
              == "cancel r;cancel r now;drain b;drain b back;stop b;stop ;"
                 "cancel r;");
  for (const auto* command : {"stop", "stop b --all"}) {
    got = user.runs(command);
    CATCH_CHECK(got.code == 1);
    has(got.errors, "--all");
  }
}

CATCH_TEST_CASE("every command says that nobody is there",
                "[cluster_commands]") {
  const user user{address_of_nobody()};
  for (const auto* command : {"submit good.yaml -w", "status", "fetch"}) {
    const auto got = user.runs(command);
    CATCH_CHECK(got.code == 1);
    has(got.errors, "graphmill: nobody answers at tcp://127.0.0.1:");
  }
}

CATCH_TEST_CASE("keys are made once", "[cluster_commands]") {
  const user user{"nobody:1"};
  CATCH_CHECK(user.runs("keygen").code == 0);
  CATCH_CHECK(
    std::filesystem::status(user.folder() / "graphmill.key").permissions()
    == std::filesystem::perms{0600});
  CATCH_CHECK(user.runs("keygen").code == 1);
  CATCH_CHECK(user.asks("keygen other")["file"] == "other");
}

CATCH_TEST_CASE("up says what it lacks", "[cluster_commands]") {
  const user user{"nobody:1"};
  for (const auto& [arguments, says] :
       std::vector<std::pair<std::string, std::string>>{
         {"up good.yaml", "--local N"},
         {"up good.yaml --local 2", "the dataset `cora` is not at"},
         {"up bad.yaml --local 2", "did you mean `epochs`?"},
         {"up good.yaml --hosts nofile", "nofile"}}) {
    const auto got = user.runs(arguments);
    CATCH_CHECK(got.code == 1);
    has(got.errors, says);
  }
  CATCH_CHECK(user.runs("up good.yaml --local 2 --hosts x").code == 2);
  CATCH_CHECK(user.runs("up good.yaml --local 0").code == 2);
}
