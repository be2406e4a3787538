#include "actors/launch/launch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cstdio>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using words = std::vector<std::string>;

/// What a shell makes of a command line: its words, each between brackets.
std::string words_in_shell(const std::string& line) {
  const auto command = "printf '[%s]' " + line;
  auto* pipe = ::popen(command.c_str(), "r");
  CATCH_REQUIRE(pipe != nullptr);
  std::string out;
  for (int letter = 0; (letter = std::fgetc(pipe)) != EOF;)
    out += static_cast<char>(letter);
  ::pclose(pipe);
  return out;
}

remote_launch two_hosts() {
  remote_launch out;
  out.hosts = value_of(parse_hosts("ada@10.0.0.1 serve=0,2\n"
                                   "bob data=/p/q slots=3 port=7801 "
                                   "address=10.0.0.2\n",
                                   "hosts"));
  out.data = "it's data";
  out.runs = "runs";
  return out;
}

} // namespace

CATCH_TEST_CASE("command lines of daemons on this machine", "[launch]") {
  local_launch launch;
  launch.program = "/opt/graphmill";
  launch.data = "data/x";
  launch.parts = 5;
  launch.daemons = 2;
  launch.slots = 3;
  launch.processors = 2;
  launch.runs = "runs";
  launch.ready = "/tmp/r";
  auto got = local_daemon(launch, 0, "");
  CATCH_CHECK(got.name == "daemon-0");
  CATCH_CHECK(got.arguments
              == words{"/opt/graphmill", "node", "--name", "daemon-0", "--data",
                       "data/x", "--serve", "0,2,4", "--slots", "3",
                       "--processors", "2", "--listen", "tcp://127.0.0.1:0",
                       "--ready-file", "/tmp/r/daemon-0", "--runs", "runs",
                       "--leave-open-runs"});
  got = local_daemon(launch, 1, "tcp://127.0.0.1:99");
  CATCH_CHECK(got.arguments
              == words{"/opt/graphmill", "node", "--name", "daemon-1", "--data",
                       "data/x", "--serve", "1,3", "--slots", "3",
                       "--processors", "2", "--listen", "tcp://127.0.0.1:0",
                       "--ready-file", "/tmp/r/daemon-1", "--join",
                       "tcp://127.0.0.1:99"});
  launch.how.no_verify = true;
  launch.how.storage = {storage_kind::disk, 4096, 8192};
  got = local_daemon(launch, 1, "tcp://127.0.0.1:99");
  const words last{"--no-verify", "--storage", "disk", "--disk-cache",
                   "4096",        "--memory",  "8192"};
  CATCH_REQUIRE(got.arguments.size() > last.size());
  CATCH_CHECK(std::equal(last.rbegin(), last.rend(), got.arguments.rbegin()));
  launch.how = {};
  launch.key = "/k";
  got = local_daemon(launch, 1, "");
  CATCH_CHECK(got.arguments.back() == "/k");
  launch.key.clear();
  launch.insecure = true;
  got = local_daemon(launch, 1, "");
  CATCH_CHECK(got.arguments.back() == "--insecure");
  // Once more, where it was, and with what it had.
  launch.again_at = "tcp://127.0.0.1:98";
  got = local_daemon(launch, 0, "");
  CATCH_CHECK(got.arguments[13] == "tcp://127.0.0.1:98");
  CATCH_CHECK(got.arguments.back() == "--insecure");
  got = local_daemon(launch, 1, "tcp://127.0.0.1:98");
  CATCH_CHECK(got.arguments[13] == "tcp://127.0.0.1:0");
}

CATCH_TEST_CASE("command lines of daemons on other machines", "[launch]") {
  auto launch = two_hosts();
  launch.key = "k";
  const auto got = remote_daemon(launch, 1);
  CATCH_CHECK(got.name == "daemon-1 on bob");
  CATCH_REQUIRE(got.arguments.size() == 11);
  CATCH_CHECK(got.arguments.front() == "ssh");
  CATCH_CHECK(got.arguments[8] == "--");
  CATCH_CHECK(got.arguments[9] == "bob");
  CATCH_CHECK(got.arguments[10]
              == "exec graphmill node --name daemon-1 --data /p/q --slots 3 "
                 "--listen 'tcp://*:7801' --advertise 10.0.0.2 "
                 "--join tcp://10.0.0.1:7800 --key k");
  CATCH_CHECK(remote_command(launch, 0)
              == "exec graphmill node --name daemon-0 --data 'it'\\''s data' "
                 "--slots 1 --listen 'tcp://*:7800' --advertise 10.0.0.1 "
                 "--serve 0,2 --runs runs --key k --leave-open-runs");
  launch.key.clear();
  launch.insecure = true;
  launch.hosts[0].address = "localhost";
  CATCH_CHECK(remote_command(launch, 0)
              == "exec graphmill node --name daemon-0 --data 'it'\\''s data' "
                 "--slots 1 --listen tcp://localhost:7800 --serve 0,2 "
                 "--runs runs --insecure --leave-open-runs");
  launch.again = true;
  CATCH_CHECK_FALSE(remote_command(launch, 0).ends_with("--leave-open-runs"));
}

CATCH_TEST_CASE("words for a shell", "[launch]") {
  for (const auto* word :
       {"plain", "", "two words", "it's", "$HOME", "a;b", "*", "`id`", "\\",
        "\"", "!x", "~", "a=b", "-n", "''", "#c", "line\nbreak", "\xc3\xa4"}) {
    CATCH_INFO(word);
    CATCH_CHECK(words_in_shell(shell_quoted(word))
                == "[" + std::string{word} + "]");
  }
}

CATCH_TEST_CASE("hosts files are read", "[launch]") {
  const auto hosts =
    value_of(parse_hosts("# all of them\n"
                         "\n"
                         "  ada@10.0.0.1\tserve=0,2-4 # one\r\n"
                         "gpu-box address=fd00::7 port=9\n"
                         "spare serve=any",
                         "hosts"));
  CATCH_REQUIRE(hosts.size() == 3);
  CATCH_CHECK(hosts[0].login == "ada@10.0.0.1");
  CATCH_CHECK(hosts[0].serve == "0,2-4");
  CATCH_CHECK(address_of(hosts[0]) == "tcp://10.0.0.1:7800");
  CATCH_CHECK(hosts[1].login == "gpu-box");
  CATCH_CHECK(address_of(hosts[1]) == "tcp://[fd00::7]:9");
  CATCH_CHECK(hosts[2].serve == "any");
}

CATCH_TEST_CASE("all that is wrong with a hosts file is told", "[launch]") {
  const auto got = error_of(parse_hosts("a slots=0\n"
                                        "b\n"
                                        "b\n"
                                        "-oProxyCommand=x\n"
                                        "c serve=1-\n"
                                        "d colour=red\n"
                                        "e port\n"
                                        "f port=70000\n"
                                        "g address=a;b\n",
                                        "my-hosts"));
  CATCH_INFO(got.message);
  CATCH_CHECK(got.code == ec::invalid_argument);
  for (const auto line : {1, 3, 4, 5, 6, 7, 8, 9})
    CATCH_CHECK(got.message.find("my-hosts:" + std::to_string(line) + ": ")
                != std::string::npos);
  CATCH_CHECK(got.message.find("my-hosts:2:") == std::string::npos);
  CATCH_CHECK(error_of(parse_hosts("# none\n\n", "x")).message
              == "x names no host");
}
