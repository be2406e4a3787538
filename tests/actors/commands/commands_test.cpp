#include "messages/wire/chaos.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/actors/commands/user.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("the cluster is shown", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.coordinator = "a";
    out.dataset = "cora";
    out.parts = 6;
    out.running = "good-1";
    out.queued = {"good-2"};
    out.stand_ins = {"c", "d"};
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
    out.daemons[0].load =
      daemon_load{.cores = 1.5, .memory_bytes = 212'000'000};
    return encode(out);
  });
  const auto got = user.runs("status");
  CATCH_CHECK(got.code == 3);
  CATCH_CHECK_THAT(got.output,
                   contains("running      good-1\nqueued       good-2\n"
                            "stand-ins    c, d\n"));
  CATCH_CHECK_THAT(got.output,
                   contains("owners       0 to 1 of each part in service\n"));
  CATCH_CHECK_THAT(
    got.output,
    contains("a       ready     one   tcp://10.0.0.1:7800  0-2,4      2     "
             "1.5      212\n"));
  CATCH_CHECK_THAT(
    got.output,
    contains("b       lost      two   tcp://10.0.0.2:7800  3,5        1       "
             "-        -  silent"));
  CATCH_CHECK_THAT(got.output, contains("silent for 3000 ms\n"));
  CATCH_CHECK_THAT(
    got.output,
    contains("no daemon in service has part 3,5: no run can start"));
  const auto json = user.asks("status", 3);
  CATCH_CHECK(json["running"] == "good-1");
  CATCH_CHECK(json["stand_ins"] == std::vector<std::string>{"c", "d"});
  CATCH_CHECK(json["daemons"][1]["state"] == "lost");
  CATCH_CHECK(json["daemons"][0]["parts"] == std::vector{0, 1, 2, 4});
  CATCH_REQUIRE(json["owners"].size() == 4);
  CATCH_CHECK(json["owners"][3]["part"] == 4);
  CATCH_CHECK(json["owners"][3]["daemons"] == std::vector<std::string>{"a"});

  coordinator.on(method::plan, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto def, decode_definition_body(body));
    plan_reply out{{"a", "b", "a"}, {"b"}, {}};
    out.replicas_of_part.resize(3);
    out.replicas_of_part[0].names = {"b", "c"};
    out.replicas_of_part[2].names = {"b"};
    return encode(out);
  });
  const auto address = " --cluster " + coordinator.address();
  CATCH_CHECK_THAT(user.runs("plan good.yaml" + address).output,
                   contains("daemon  parts  replicas  samples  trainer ranks\n"
                            "a       0,2    -         -        -\n"
                            "b       1      0,2       yes      0\n"
                            "c       -      0         -        -\n"));
  CATCH_CHECK(user.asks("plan good.yaml" + address)["daemons"][0]
              == nlohmann::json{{"name", "a"},
                                {"parts", {0, 2}},
                                {"replicas", nlohmann::json::array()},
                                {"samples", false},
                                {"ranks", nlohmann::json::array()}});
}

CATCH_TEST_CASE("runs are listed, cancelled and fetched",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  auto run = record(run_state::running);
  run.started = unix_time{1700000001000};
  coordinator.on(method::runs, [&run](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_runs_request(body));
    runs_reply out;
    if (request.run.empty() || request.run == run.id)
      out.runs.push_back(run);
    return encode(out);
  });
  const std::string log(5000, 'x');
  coordinator.on(
    method::fetch_file, [&log](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto request, decode_file_request(body));
      file_reply out;
      if (request.file.empty())
        out.files = {"log.txt"};
      else if (request.file != "log.txt")
        return fail(ec::not_found, "no {}", request.file);
      else {
        out.size = log.size();
        const auto piece =
          std::as_bytes(std::span{log})
            .subspan(request.offset,
                     std::min<std::size_t>(1000, log.size() - request.offset));
        out.bytes.assign(piece.begin(), piece.end());
      }
      return encode(out);
    });
  coordinator.on(method::logs, [](const payload&) -> result<payload> {
    return encode(log_reply{.collected = 1}); // All are forgotten.
  });
  CATCH_CHECK_THAT(user.runs("logs").output,
                   contains("-.000 - info  " + log + "\n"));
  CATCH_CHECK(user.asks("logs good-1")["text"] == log);
  auto got = user.runs("fetch good-1");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("run good-1 is running"));
  got = user.runs("logs nothing");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("knows no run nothing"));

  run.state = run_state::finished;
  run.ended = unix_time{1700000201000};
  run.summary = summary.dump();
  CATCH_CHECK_THAT(user.runs("logs -f").output, contains(log));
  CATCH_CHECK_THAT(user.runs("runs").output, contains("3 min 20 s    0.8125"));
  const auto json = user.asks("runs")["runs"][0];
  CATCH_CHECK(json["state"] == "finished");
  CATCH_CHECK(json["ended"] == 1700000201.0);
  CATCH_CHECK(json["summary"] == summary);
  CATCH_CHECK(user.asks("fetch")["folder"] == "runs/good-1");
  CATCH_CHECK(content_of(user.folder() / "runs/good-1/log.txt") == log);
  got = user.runs("fetch");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("is there already"));
  coordinator.on(method::fetch_file, [](const payload&) -> result<payload> {
    return encode(file_reply{{}, 7, {}}); // Its disk does not give it.
  });
  got = user.runs("logs");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK(got.output.empty());
  CATCH_CHECK_THAT(got.errors, contains("0 bytes of log.txt, which has 7"));

  std::string orders;
  coordinator.on(method::cancel, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_cancel_request(body));
    orders += "cancel " + request.run + (request.now ? " now;" : ";");
    return payload{};
  });
  for (const auto which : {method::drain, method::stop})
    coordinator.on(which, [&, which](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto request, decode_daemon_request(body));
      orders += std::string{to_string(which)} + ' ' + request.name
                + (request.back ? " back;" : ";");
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
    CATCH_CHECK(got.code == 2);
    CATCH_CHECK_THAT(got.errors, contains("--all"));
  }
}

CATCH_TEST_CASE("chaos is planned, carried out, and ends with the run",
                "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  status_reply now;
  for (const auto* name : {"a", "b"}) {
    auto& daemon = now.daemons.emplace_back();
    daemon.name = name;
    daemon.chaos = true;
  }
  coordinator.on(method::status, [&now](const payload&) -> result<payload> {
    return encode(now);
  });
  auto run = record(run_state::running);
  coordinator.on(method::runs, [&run](const payload&) -> result<payload> {
    return encode(runs_reply{{run}, false});
  });
  std::string asked;
  coordinator.on(method::chaos, [&](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_chaos_request(body));
    asked += sentence_of(request) + ';';
    run.state = run_state::finished;
    return payload{};
  });
  const std::string chaos = "chaos --seed 3 --during good-1 --kinds cut ";
  auto json = user.asks(chaos + "--faults 2 --dry-run");
  CATCH_CHECK(json["faults"].size() == 2);
  CATCH_CHECK(json["faults"][0]["kind"] == "cut");
  CATCH_CHECK(json["faults"][0]["outcome"] == "");
  const auto shown = user.runs(chaos + "--faults 2 --dry-run").output;
  CATCH_CHECK(std::ranges::count(shown, '\n') == 2);
  CATCH_CHECK(shown.find('\\') == std::string::npos);
  CATCH_CHECK(asked.empty());
  json = user.asks(chaos + "--every 0.1");
  CATCH_CHECK(json["state"] == "finished");
  CATCH_CHECK(json["faults"].size() == 1);
  CATCH_CHECK(json["faults"][0]["outcome"] == "asked");
  CATCH_CHECK(std::ranges::count(asked, ';') == 1);
  auto got = user.runs(chaos);
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("run good-1 is finished already"));
  // One fault alone.
  asked.clear();
  CATCH_CHECK(
    user.runs("chaos --daemon b --kinds stop --at exchange --lasts 9").code
    == 0);
  CATCH_CHECK(asked == "stop b for 9 ms at its next exchange;");
  for (const auto* wrong :
       {"--daemon b", "--daemon b --kinds stop", "--seed 1",
        "--daemon b --kinds kill --at lunch", "--seed 1 --during r --kinds x",
        "--seed 1 --during r --kinds kill,kill"})
    CATCH_CHECK(user.runs(std::string{"chaos "} + wrong).code == 2);
  now.daemons[1].chaos = false;
  got = user.runs(chaos);
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors,
                   contains("b was started without --chaos-allowed"));
  CATCH_CHECK_THAT(user.runs("status").output,
                   contains("chaos allowed (--chaos-allowed): a\n"));
}

CATCH_TEST_CASE("long lists of runs come page by page", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  // Runs 9 to 0, of which an answer takes three.
  coordinator.on(method::runs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_runs_request(body));
    runs_reply out;
    auto next = request.before.empty() ? 9 : std::stoi(request.before) - 1;
    for (; next >= 0 && out.runs.size() < std::min(request.limit, 3u); --next) {
      out.runs.push_back(record(run_state::finished));
      out.runs.back().id = std::to_string(next);
    }
    out.more = next >= 0;
    return encode(out);
  });
  const auto ids = [&user](const std::string& arguments) {
    const auto json = user.asks(arguments);
    std::string out;
    for (const auto& run : json["runs"])
      out += run["run"].get<std::string>();
    return out + (json["more"] ? "+" : "");
  };
  CATCH_CHECK(ids("runs") == "9876543210");
  CATCH_CHECK(ids("runs -n 4") == "9876+");
  CATCH_CHECK(ids("runs -n 4 --before 6") == "5432+");
  CATCH_CHECK(ids("runs -n 4 --before 2") == "10");
  CATCH_CHECK_THAT(user.runs("runs -n 4").output,
                   contains("older ones: graphmill runs --before 6\n"));
  CATCH_CHECK(user.runs("runs 9 --before 2").code == 2);
}

CATCH_TEST_CASE("what cannot be printed is a failure", "[cluster_commands]") {
  const user user{"nobody:1"};
  const auto got = user.runs(
    "validate good.yaml", "timeout 60 sh -c 'exec \"$0\" \"$@\" > /dev/full'");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("No space left on device"));
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

CATCH_TEST_CASE("a user's key is made at first use, and is used from then on",
                "[cluster_commands]") {
  using std::filesystem::perms;
  fake_coordinator coordinator;
  coordinator.on(method::stop, nothing);
  const user user{coordinator.address()};
  // It is another one than the coordinator's.
  auto got = user.runs("stop --all");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains(coordinator.address()));
  CATCH_CHECK_THAT(got.errors, contains(user.own_key().string()));
  CATCH_CHECK(std::filesystem::status(user.own_key()).permissions()
              == perms{0600});
  CATCH_CHECK(
    std::filesystem::status(user.own_key().parent_path()).permissions()
    == perms{0700});
  const auto made = content_of(user.own_key());
  CATCH_CHECK(user.runs("stop --all --insecure").code == 1);
  CATCH_CHECK(content_of(user.own_key()) == made);
  CATCH_CHECK(coordinator.count(method::stop) == 0);
  const auto right = " --key '" + coordinator.key_file().string() + "'";
  CATCH_CHECK(user.runs("stop --all" + right).code == 0);
  got = user.runs("stop --all --insecure" + right);
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("leave out one of the two"));

  std::filesystem::permissions(user.own_key(), perms{0640});
  got = user.runs("status");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("others can read the key file"));
  got = user.runs("status", "env -u HOME -u XDG_CONFIG_HOME timeout 60");
  CATCH_CHECK(got.code == 1);
  CATCH_CHECK_THAT(got.errors, contains("set HOME"));
}

CATCH_TEST_CASE("up says what it lacks", "[cluster_commands]") {
  const user user{"nobody:1"};
  for (const auto& [arguments, says] :
       std::vector<std::pair<std::string, std::string>>{
         {"up good.yaml --local 2", "the dataset `cora` is not at"},
         {"up bad.yaml --local 2", "did you mean `epochs`?"},
         {"up good.yaml --hosts nofile", "nofile"}}) {
    const auto got = user.runs(arguments);
    CATCH_CHECK(got.code == 1);
    CATCH_CHECK_THAT(got.errors, contains(says));
  }
  CATCH_CHECK(user.runs("up good.yaml --local 2 --hosts x").code == 2);
  CATCH_CHECK(user.runs("up good.yaml --local 0").code == 2);
}

CATCH_TEST_CASE("a single fault is no part of a plan", "[cluster_commands]") {
  fake_coordinator coordinator;
  const user user{coordinator.address(), coordinator.key_file()};
  std::atomic<bool> harmed{false};
  coordinator.on(method::chaos, [&harmed](const payload&) -> result<payload> {
    harmed = true;
    return payload{};
  });
  const std::string one = "chaos --daemon b --kinds kill ";
  for (const auto* wrong : {"--dry-run", "--seed 1", "--during good-1"})
    CATCH_CHECK(user.runs(one + wrong).code == 2);
  for (const auto* wrong :
       {"--at drain", "--peer a", "--lasts 5", "--each 5", "--messages 1"})
    CATCH_CHECK(
      user.runs(std::string{"chaos --seed 1 --during good-1 "} + wrong).code
      == 2);
  CATCH_CHECK_FALSE(harmed);
  CATCH_CHECK(user.runs(one).code == 0);
  CATCH_CHECK(harmed);
}

CATCH_TEST_CASE("a cluster resumes a run with data and memory of its own",
                "[cluster_commands]") {
  const user user{"tcp://127.0.0.1:1"};
  for (const auto* own : {"--data d", "--runs r", "--no-verify",
                          "--storage disk", "--disk-cache 1", "--memory 1"}) {
    const auto got = user.runs(
      std::string{"resume good-1 --cluster tcp://127.0.0.1:1 "} + own);
    CATCH_CHECK(got.code == 2);
    CATCH_CHECK_THAT(got.errors, contains(" excludes "));
  }
}
