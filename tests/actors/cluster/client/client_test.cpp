#include "actors/cluster/client/client.hpp"
#include "actors/cluster/client/fetch_run.hpp"
#include "actors/cluster/client/upload_files.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

/// @param key Empty: it uses none.
/// @param unreachable So long is tried where nobody is.
cluster_client client_of(const std::string& address,
                         const std::filesystem::path& key,
                         std::chrono::milliseconds unreachable = 1s) {
  cluster_client::settings with;
  with.command = "test";
  with.address = address;
  with.key = key;
  with.insecure = key.empty();
  with.unreachable = unreachable;
  return value_of(cluster_client::make(std::move(with)));
}

cluster_client client_of(const fake_coordinator& coordinator) {
  return client_of(coordinator.address(), coordinator.key_file(), 60s);
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

bool says(const error& reason, std::string_view text) {
  CATCH_INFO(reason.message);
  CATCH_CHECK(reason.message.find(text) != std::string::npos);
  return true;
}

} // namespace

CATCH_TEST_CASE("a client asks and is answered", "[client]") {
  fake_coordinator coordinator;
  coordinator.on(method::submit, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto def, decode_definition_body(body));
    return encode_run_id("run-of-" + def.name);
  });
  coordinator.on(method::cancel, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_cancel_request(body));
    if (request.run == "r1" && request.now)
      return payload{};
    return fail(ec::unavailable, "no such run is on");
  });
  coordinator.on(method::runs, [](const payload& body) -> result<payload> {
    GRAPHMILL_TRY(const auto request, decode_runs_request(body));
    runs_reply out;
    if (request.run.empty())
      out.runs.resize(request.limit);
    return encode(out);
  });
  auto client = client_of(coordinator);
  const auto def = parse_definition("dataset: cora", "cora.yaml").value;
  CATCH_CHECK(value_of(client.submit(def)) == "run-of-cora");
  value_of(client.cancel({"r1", true}));
  // Errors of the coordinator come as they are, whatever their code.
  CATCH_CHECK(error_of(client.cancel({"r2", false})).message
              == "no such run is on");
  CATCH_CHECK(value_of(client.runs({{}, 3, {}})).runs.size() == 3);
  says(error_of(client.run("r7")), "knows no run r7");
}

CATCH_TEST_CASE("a client says that nobody is there", "[client]") {
  auto client = client_of(address_of_nobody(), {});
  const auto got = error_of(client.status());
  CATCH_CHECK(got.code == ec::unavailable);
  says(got, "nobody answers at tcp://127.0.0.1:");
  says(got, "--cluster");
}

CATCH_TEST_CASE("a client waits less long where nobody listens", "[client]") {
  cluster_client::settings with;
  with.command = "test";
  with.address = address_of_nobody();
  with.insecure = true;
  with.unreachable = with.deadline = 100s;
  with.refused = 30ms;
  auto client = value_of(cluster_client::make(std::move(with)));
  says(error_of(client.status()), "tried for 30 ms");
}

CATCH_TEST_CASE("a client refuses addresses that nobody can have", "[client]") {
  for (const auto* address :
       {"tcp://*:7800", "tcp://127.0.0.1:0", "ipc://x", "", "tcp://host:x"}) {
    CATCH_INFO(address);
    cluster_client::settings with;
    with.command = "test";
    with.address = address;
    CATCH_CHECK(error_of(cluster_client::make(std::move(with))).code
                == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("a client does not wait for a host that nobody knows",
                "[client]") {
  cluster_client::settings with;
  with.command = "test";
  with.address = "tcp://host.invalid:7800";
  with.insecure = true;
  const auto unknown = error_of(cluster_client::make(with));
  CATCH_CHECK(unknown.code == ec::not_found);
  says(unknown, "cannot find the host 'host.invalid'");
  says(unknown, "--cluster");
  with.address += ",tcp://127.0.0.1:7800";
  value_of(cluster_client::make(with));
}

CATCH_TEST_CASE("a client needs the cluster's key", "[client]") {
  temp_folder folder;
  value_of(write_keys(value_of(make_keys()), folder / "wrong"));
  fake_coordinator coordinator;
  coordinator.on(method::stop, nothing);
  for (const auto& key : {std::filesystem::path{}, folder / "wrong"}) {
    CATCH_INFO(key);
    cluster_client::settings with;
    with.command = "test";
    with.address = coordinator.address();
    with.key = key;
    with.insecure = key.empty();
    // For a busy machine: it takes no longer than the refusal.
    with.unreachable = with.deadline = 100s;
    auto client = value_of(cluster_client::make(std::move(with)));
    const auto got = error_of(client.stop({}));
    CATCH_CHECK(got.code == ec::permission);
    says(got, coordinator.address() + " does not let us in");
    says(got, "--key");
    says(got, key.string());
  }
  CATCH_CHECK(coordinator.count(method::stop) == 0);
  auto client = client_of(coordinator);
  value_of(client.stop({}));
  CATCH_CHECK(coordinator.count(method::stop) == 1);
}

CATCH_TEST_CASE("a signal ends a call", "[client]") {
  fake_coordinator coordinator;
  std::promise<void> over; // Ends before the coordinator, whatever fails.
  coordinator.on(
    method::status,
    [heard = over.get_future().share()](const payload&) -> result<payload> {
      ::kill(::getpid(), SIGINT); // To any thread that takes it.
      heard.wait_for(60s);
      return fail(ec::internal, "too late");
    });
  signal_watch signals;
  cluster_client::settings with;
  with.command = "test";
  with.address = coordinator.address();
  with.key = coordinator.key_file();
  with.signals = &signals;
  auto client = value_of(cluster_client::make(std::move(with)));
  CATCH_CHECK(error_of(client.status()).code == ec::cancelled);
  over.set_value();
  coordinator.on(method::stop, nothing);
  CATCH_CHECK(error_of(client.stop({})).code == ec::cancelled);
  client.forget_signals();
  value_of(client.stop({}));
}

CATCH_TEST_CASE("a run folder is fetched in pieces", "[client]") {
  std::map<std::string, std::string> files{
    {"empty.txt", ""}, {"log.txt", "abcdefghij"}, {"some.json", "{}"}};
  fake_coordinator coordinator;
  coordinator.on(method::fetch_file,
                 [&files](const payload& body) -> result<payload> {
                   GRAPHMILL_TRY(const auto request, decode_file_request(body));
                   file_reply out;
                   for (const auto& [name, content] : files)
                     if (request.file.empty())
                       out.files.push_back(name);
                   if (!request.file.empty()) {
                     const auto& content = files.at(request.file);
                     out.size = content.size();
                     out.bytes = bytes_of(content.substr(request.offset, 4));
                   }
                   return encode(out);
                 });
  temp_folder folder;
  auto client = client_of(coordinator);
  const auto got = value_of(fetch_run(client, "r1", folder / "deep/er", {}));
  CATCH_CHECK(got.bytes == 12);
  CATCH_CHECK(got.files.size() == 3);
  for (const auto& [name, content] : files)
    CATCH_CHECK(content_of(folder / "deep/er" / name) == content);
  says(error_of(fetch_run(client, "r1", folder / "deep/er", {})),
       "is there already");

  // Nothing is made outside of the folder, and nothing is left behind.
  for (const auto* name :
       {"../out", "/tmp/graphmill-out", "a/../../out", "a/", ".", ""}) {
    CATCH_INFO(name);
    files[name] = "x";
    CATCH_CHECK(error_of(fetch_run(client, "r1", folder / "bad", {})).code
                == ec::invalid_data);
    files.erase(name);
  }
  CATCH_CHECK(std::distance(std::filesystem::directory_iterator{folder.path()},
                            std::filesystem::directory_iterator{})
              == 1);
}

CATCH_TEST_CASE("files are uploaded in pieces", "[client]") {
  temp_folder folder;
  std::string large(upload_piece_bytes + 3, 'a');
  large.back() = 'z';
  const std::map<std::string, std::string> files{
    {"empty", ""}, {"large", large}, {"small", "abc"}};
  std::vector<std::filesystem::path> paths;
  for (const auto& [name, content] : files) {
    std::ofstream{folder / name} << content;
    paths.push_back(folder / name);
  }
  fake_coordinator coordinator;
  std::map<std::string, std::string> came;
  coordinator.on(
    method::upload, [&came](const payload& body) -> result<payload> {
      GRAPHMILL_TRY(const auto piece, decode_upload_request(body));
      auto& file = came[piece.file];
      if (file.size() != piece.offset)
        return fail(ec::invalid_argument, "not the next piece");
      file.append(reinterpret_cast<const char*>(piece.bytes.data()),
                  piece.bytes.size());
      return payload{};
    });
  auto client = client_of(coordinator);
  std::uint64_t done = 0;
  value_of(upload_files(client, paths, [&done](const progress& now) {
    CATCH_CHECK(now.done >= done);
    CATCH_CHECK(now.total == upload_piece_bytes + 6);
    done = now.done;
  }));
  CATCH_CHECK(done == upload_piece_bytes + 6);
  CATCH_CHECK(came == files);
  CATCH_CHECK(coordinator.count(method::upload) == 4);
  CATCH_CHECK(error_of(upload_files(client, {folder / "none"}, {})).code
              == ec::not_found);
  coordinator.on(method::upload, [](const payload&) -> result<payload> {
    return fail(ec::no_space, "the disk is full");
  });
  says(error_of(upload_files(client, paths, {})), "the disk is full");
  CATCH_CHECK(coordinator.count(method::upload) == 5);
}

CATCH_TEST_CASE("a file that does not come whole is an error", "[client]") {
  fake_coordinator coordinator;
  coordinator.on(method::fetch_file,
                 [](const payload& body) -> result<payload> {
                   GRAPHMILL_TRY(const auto request, decode_file_request(body));
                   file_reply out;
                   if (request.file.empty())
                     out.files = {"log.txt"};
                   else
                     out.size = 7;
                   return encode(out);
                 });
  temp_folder folder;
  auto client = client_of(coordinator);
  says(error_of(fetch_run(client, "r1", folder / "out", {})),
       "0 bytes of log.txt, which has 7");
  CATCH_CHECK(std::filesystem::is_empty(folder.path()));
}

CATCH_TEST_CASE("a client finds the coordinator at one of several addresses",
                "[client]") {
  fake_coordinator coordinator;
  coordinator.on(method::status, [](const payload&) -> result<payload> {
    status_reply out;
    out.coordinator = "here";
    return encode(out);
  });
  coordinator.on(method::cancel, nothing);
  auto client = client_of(address_of_nobody() + "," + coordinator.address(),
                          coordinator.key_file(), 5s);
  // What must not be done twice, too: nobody has taken it at the first.
  value_of(client.cancel({"r1", true}));
  CATCH_CHECK(client.address() == coordinator.address());
  CATCH_CHECK(value_of(client.status()).coordinator == "here");
  CATCH_CHECK(coordinator.count(method::cancel) == 1);
  CATCH_CHECK(coordinator.count(method::status) == 1);
  auto alone = client_of(address_of_nobody() + "," + address_of_nobody(),
                         coordinator.key_file());
  CATCH_CHECK(error_of(alone.status()).code == ec::unavailable);
  const auto none = error_of(cluster_client::make({"test", "a:1,b:0"}));
  CATCH_CHECK(none.code == ec::invalid_argument);
}

CATCH_TEST_CASE("a client asks elsewhere if a coordinator does not answer",
                "[client]") {
  const auto named = [](const std::string& name) {
    return [name](const payload&) -> result<payload> {
      status_reply out;
      out.coordinator = name;
      return encode(out);
    };
  };
  fake_coordinator frozen;
  fake_coordinator other{frozen.key_file()};
  frozen.on(method::status, named("frozen"));
  other.on(method::status, named("other"));
  other.on(method::submit, nothing);
  std::promise<void> thaw; // Ends before the first coordinator, whatever fails.
  frozen.on(method::submit,
            [thawed = thaw.get_future().share()](const payload&) {
              thawed.wait_for(60s);
              return nothing({});
            });
  cluster_client::settings with;
  with.command = "test";
  with.address = frozen.address() + "," + other.address();
  with.key = frozen.key_file();
  with.deadline = 4s;
  auto client = value_of(cluster_client::make(std::move(with)));
  CATCH_CHECK(value_of(client.status()).coordinator == "frozen");
  // It may have taken the run.
  const auto def = parse_definition("dataset: cora", "cora.yaml").value;
  CATCH_CHECK(error_of(client.submit(def)).code == ec::timeout);
  CATCH_CHECK(client.address() == frozen.address());
  CATCH_CHECK(other.count(method::submit) == 0);
  // A question does no harm.
  CATCH_CHECK(value_of(client.status()).coordinator == "other");
  CATCH_CHECK(client.address() == other.address());
  thaw.set_value();
}

CATCH_TEST_CASE("a client tells of the coordinator that does not answer",
                "[client]") {
  fake_coordinator frozen;
  frozen.on(method::status, [](const payload&) -> result<payload> {
    return fail(ec::timeout, "not begun in time");
  });
  auto client = client_of(frozen.address() + "," + address_of_nobody(),
                          frozen.key_file(), 5s);
  const auto got = error_of(client.status());
  CATCH_CHECK(got.code == ec::timeout);
  CATCH_CHECK(got.message == "not begun in time");
  CATCH_CHECK(client.address() == frozen.address());
}
