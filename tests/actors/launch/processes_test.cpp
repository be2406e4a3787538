#include "actors/launch/launched_cluster.hpp"
#include "actors/launch/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

child_process shell(const std::string& script) {
  return value_of(child_process::start({"child", {"sh", "-c", script}}));
}

/// Bounds every wait.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

bool is_there(pid_t process) {
  std::ifstream stat{"/proc/" + std::to_string(process) + "/stat"};
  std::string id, name, state;
  return stat >> id >> name >> state && state != "Z";
}

/// What this process has in memory of its own and in files without a name.
std::uint64_t bytes_held() {
  std::uint64_t sum = 0;
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon"))
      sum += 1024 * std::stoull(line.substr(line.find(':') + 1));
  for (const auto& entry :
       std::filesystem::directory_iterator{"/proc/self/fd"}) {
    struct stat about {};
    if (::stat(entry.path().c_str(), &about) == 0 && S_ISREG(about.st_mode)
        && about.st_nlink == 0)
      sum += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  return sum;
}

std::filesystem::path script(const temp_folder& folder, const std::string& name,
                             const std::string& content) {
  const auto path = folder / name;
  std::ofstream{path} << "#!/bin/sh\n" << content;
  std::filesystem::permissions(path, std::filesystem::perms{0755});
  return path;
}

} // namespace

CATCH_TEST_CASE("what a daemon complains of comes first", "[processes]") {
  auto child =
    shell("echo begins; echo 'graphmill: no data'; echo 'and no key'; exit 1");
  CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
  CATCH_CHECK(child.obituary().message
              == "no data\nand no key\n(child ended with code 1 after it said "
                 "this)");
}

CATCH_TEST_CASE("a child does not get variables that are hidden from it",
                "[processes]") {
  CATCH_REQUIRE(::setenv("GRAPHMILL_TEST_LEFT", "here", 1) == 0);
  static constexpr const char* hidden[]{"GRAPHMILL_TEST_LEFT"};
  const std::vector<std::string> words{
    "sh", "-c", "echo ${GRAPHMILL_TEST_LEFT:-gone}; exit 1"};
  for (const auto& [names, said] :
       {std::pair{std::span<const char* const>{}, "here"},
        std::pair{std::span<const char* const>{hidden}, "gone"}}) {
    auto child = value_of(child_process::start({"child", words, names}));
    CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
    CATCH_CHECK(child.obituary().message
                == fmt::format("child ended with code 1; it said:\n{}", said));
  }
  ::unsetenv("GRAPHMILL_TEST_LEFT");
}

CATCH_TEST_CASE("a child's end is told with its last words", "[processes]") {
  auto child = shell("echo first; echo second >&2; exit 3");
  CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
  CATCH_CHECK(child.obituary().message
              == "child ended with code 3; it said:\nfirst\nsecond");
  child = shell("kill -9 $$");
  CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
  CATCH_CHECK(child.obituary().message == "child was ended by signal 9");
  child = shell("i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done");
  CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
  const auto words = child.obituary().message;
  CATCH_CHECK(words.size() < 2000);
  CATCH_CHECK(words.starts_with("child ended with code 0; it said:\nline "));
  CATCH_CHECK(words.ends_with("\nline 299"));
}

CATCH_TEST_CASE("of what a child prints the end is kept, whatever it prints",
                "[processes]") {
  const auto before = bytes_held();
  // 50 MB, in long lines, and a child of its own that has the output, too.
  auto child = shell("sleep 1000 & yes $(printf %0500d 7) | head -c 50000000; "
                     "echo; echo the end; exit 3");
  CATCH_REQUIRE(comes_true([&child] { return !child.running(); }));
  CATCH_CHECK(bytes_held() < before + 10'000'000);
  const auto words = child.obituary().message;
  CATCH_CHECK(words.size() < 2000);
  CATCH_CHECK(words.starts_with("child ended with code 3; it said:\n000"));
  CATCH_CHECK(words.ends_with("\nthe end"));
}

CATCH_TEST_CASE("a program that is not there is an error", "[processes]") {
  const auto got =
    error_of(child_process::start({"daemon-0", {"/no/such/program", "node"}}));
  CATCH_CHECK(got.code == ec::not_found);
  CATCH_CHECK_THAT(got.message,
                   contains("cannot start daemon-0 by /no/such/program"));
}

CATCH_TEST_CASE("children end: by themselves, when asked, or by force",
                "[processes]") {
  std::vector<child_process> children;
  children.push_back(shell("exit 0"));
  CATCH_CHECK(end_all(children, 20s));
  children.push_back(shell("exec sleep 1000"));
  CATCH_CHECK(!end_all(children, 50ms));
  children.push_back(shell("trap '' TERM; while :; do sleep 0.1; done"));
  CATCH_CHECK(!end_all(children, 300ms));
  for (auto& child : children)
    CATCH_CHECK(!child.running());
}

CATCH_TEST_CASE("a child ends with the object, and with its own children",
                "[processes]") {
  temp_folder folder;
  pid_t id = 0;
  pid_t grandchild = 0;
  {
    auto child =
      shell("sleep 1000 & echo $! > '" + folder.path().string() + "/id'; wait");
    id = child.id();
    CATCH_REQUIRE(comes_true(
      [&] { return bool(std::ifstream{folder / "id"} >> grandchild); }));
    CATCH_CHECK(is_there(grandchild));
  }
  CATCH_CHECK(!is_there(id));
  CATCH_CHECK(comes_true([grandchild] { return !is_there(grandchild); }));
}

CATCH_TEST_CASE("a child is killed with its parent", "[processes]") {
  temp_folder folder;
  const auto code = code_of_child([&folder] {
    auto child = shell("exec sleep 1000");
    std::ofstream{folder / "id"} << child.id();
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  CATCH_CHECK(code == -SIGKILL);
  pid_t id = 0;
  CATCH_REQUIRE(std::ifstream{folder / "id"} >> id);
  CATCH_CHECK(comes_true([id] { return !is_there(id); }));
}

CATCH_TEST_CASE("daemons that do not come up are told of", "[processes]") {
  temp_folder folder;
  local_launch launch;
  launch.daemons = 2;
  launch.data = "d";
  launched_cluster::settings with;
  with.patience = 20s;
  CATCH_SECTION("one ends") {
    launch.program = script(folder, "bad", "echo no dataset >&2; exit 4\n");
    const auto got = error_of(launched_cluster::start(launch, with));
    CATCH_CHECK(got.message
                == "daemon-0 ended with code 4; it said:\nno dataset");
  }
  CATCH_SECTION("one says how it was started") {
    const auto said = (folder / "said").string();
    launch.program = script(folder, "bad",
                            "echo \"$@\" > '" + said
                              + "'; while [ \"$1\" != --key ]; do shift; done\n"
                                "cat \"$2\" >> '"
                              + said + "'; exit 4\n");
    error_of(launched_cluster::start(launch, with));
    // A key of its own, which is gone with the folder that it lay in.
    const auto text = content_of(said);
    CATCH_CHECK_THAT(text, contains(" --key /"));
    CATCH_CHECK_THAT(text, contains("graphmill-keys 1\n"));
    const auto begin = text.find(" --key ") + 7;
    const auto key =
      text.substr(begin, text.find_first_of(" \n", begin) - begin);
    CATCH_CHECK_FALSE(std::filesystem::exists(key));
  }
  CATCH_SECTION("one hangs") {
    launch.program = script(folder, "slow",
                            "echo $$ > " + (folder / "id").string()
                              + "; echo starting; exec sleep 1000\n");
    with.patience = 5s; // It is waited for whole.
    const auto got = error_of(launched_cluster::start(launch, with));
    CATCH_CHECK(got.code == ec::timeout);
    CATCH_CHECK_THAT(got.message, contains("starting"));
    pid_t id = 0;
    CATCH_REQUIRE(std::ifstream{folder / "id"} >> id);
    CATCH_CHECK(!is_there(id));
  }
}

CATCH_TEST_CASE("daemons are started by ssh", "[processes]") {
  temp_folder folder;
  // Runs what it is told here, as a login shell would, and keeps its arguments.
  script(folder, "ssh",
         "printf '%s\\n' \"$@\" > '" + (folder / "arguments").string()
           + "'\nwhile [ \"$1\" != -- ]; do shift; done\n"
             "exec sh -c \"$3\"\n");
  const auto program =
    script(folder, "my graphmill", "echo \"$@\"; echo denied; exit 5\n");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  remote_launch launch;
  launch.hosts = value_of(parse_hosts("me@127.0.0.1\n", "hosts"));
  launch.program = program;
  launch.data = "a b";
  launched_cluster::settings with;
  with.insecure = true;
  const auto got = error_of(launched_cluster::start(launch, with));
  ::setenv("PATH", path.c_str(), 1);
  CATCH_CHECK_THAT(got.message,
                   contains("daemon-0 on me@127.0.0.1 ended with code 5"));
  CATCH_CHECK_THAT(
    got.message,
    contains("node --name daemon-0 --data a b --slots 1 "
             "--listen tcp://127.0.0.1:7800 --leave-open-runs\ndenied"));
  CATCH_CHECK_THAT(content_of(folder / "arguments"),
                   contains("BatchMode=yes\n"));
}
