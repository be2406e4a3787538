#include "tests/support/catch.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <string>

using namespace graphmill;
using graphmill::test::has;

namespace {

/// Runs `graphmill inspect` on a folder; standard output goes to `out`.
int inspect(const std::filesystem::path& folder, const std::string& flags,
            std::string& out) {
  const test::temp_folder results;
  const auto command = std::string{"'"} + GRAPHMILL_PROGRAM + "' inspect '"
                       + folder.string() + "' " + flags + " > '"
                       + (results / "out").string() + "' 2>&1";
  const auto status = std::system(command.c_str());
  out = test::content_of(results / "out");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

CATCH_TEST_CASE("inspect tells whole datasets from broken ones",
                "[commands][inspect]") {
  const test::temp_folder folder;
  const auto data = folder / "rmat";
  const auto import = std::string{"'"} + GRAPHMILL_PROGRAM
                      + "' import rmat --scale 6 --quiet --out '"
                      + data.string() + "' > /dev/null";
  CATCH_REQUIRE(std::system(import.c_str()) == 0);
  std::string out;
  CATCH_CHECK(inspect(data, "--quiet", out) == 0);
  CATCH_CHECK(has(out, "nothing broken"));
  CATCH_CHECK(inspect(data, "--json -q", out) == 0);
  const auto whole = nlohmann::json::parse(out);
  CATCH_CHECK(whole["node_types"][0]["count"] == 64);
  CATCH_CHECK(whole["edge_types"][0]["in_degree"]["mean"] == 24.0);
  CATCH_CHECK(whole["broken"].empty());

  {
    std::fstream labels{data / "nodes" / "node" / "labels.npy",
                        std::ios::in | std::ios::out | std::ios::binary};
    labels.seekp(-8, std::ios::end);
    labels.put('\x7f');
  }
  CATCH_CHECK(inspect(data, "--quiet", out) == 1);
  CATCH_CHECK(has(out, "labels.npy: the label of node 63 is 127"));
  CATCH_CHECK(inspect(data, "--json -q", out) == 1);
  CATCH_CHECK(nlohmann::json::parse(out)["broken"].size() == 2);

  CATCH_CHECK(inspect(folder / "none", "", out) == 1);
  CATCH_CHECK(has(out, "there is no folder"));
}

CATCH_TEST_CASE("inspect sees whether parts belong together",
                "[commands][inspect]") {
  const test::temp_folder folder;
  const auto data = folder / "rmat";
  const auto program = std::string{"'"} + GRAPHMILL_PROGRAM + "' ";
  const auto make = program + "import rmat --scale 6 -q --out '" + data.string()
                    + "' > /dev/null && touch '" + data.string()
                    + "/nodes/node/time.npy' && " + program + "partition '"
                    + data.string() + "' --parts 2 -q --out '"
                    + (folder / "parts").string() + "' > '"
                    + (folder / "report").string() + "'";
  CATCH_REQUIRE(std::system(make.c_str()) == 0);
  std::string out;
  CATCH_CHECK(inspect(data, "-q", out) == 0);
  CATCH_CHECK(has(out, "nodes/node/time.npy exists, but nothing uses it"));
  out = test::content_of(folder / "report");
  CATCH_CHECK(has(out, "nodes/node/time.npy is not carried over"));
  CATCH_CHECK(inspect(folder / "parts", "-q", out) == 0);
  std::filesystem::remove_all(folder / "parts" / "part-1");
  CATCH_CHECK(inspect(folder / "parts", "-q", out) == 1);
  CATCH_CHECK(has(out, "part-1"));
  std::filesystem::copy(data, folder / "parts" / "part-1",
                        std::filesystem::copy_options::recursive);
  CATCH_CHECK(inspect(folder / "parts", "-q", out) == 1);
  CATCH_CHECK(has(out, "is not a part of this graph"));
}

CATCH_TEST_CASE("programs load no library that they do not need",
                "[commands]") {
  const auto loads = [](const std::string& program, const std::string& what) {
    const auto ask = "ldd '" + program + "' | grep -Eq '" + what + "'";
    return std::system(ask.c_str()) == 0;
  };
  const std::string program{GRAPHMILL_PROGRAM};
  CATCH_CHECK(loads(program, "libc.so"));
  CATCH_CHECK(!loads(program, "torch|libcaf|blas"));
  // Debian's libtorch loads 250 libraries: half a second of each daemon.
  const auto engine = program + "-engine";
  CATCH_CHECK(loads(engine, "libcaf"));
  CATCH_CHECK((loads(engine, "torch_cuda") || !loads(engine, "torch")));
}

CATCH_TEST_CASE("a program without its engine says so", "[commands]") {
  const test::temp_folder folder;
  const auto alone = folder / "graphmill";
  std::filesystem::copy_file(GRAPHMILL_PROGRAM, alone);
  const auto said = (folder / "said").string();
  // What lies in the folder where it is called is not started.
  const auto call = "cd '" + (folder / "").string()
                    + "' && mkdir here && cp /bin/true here/graphmill-engine"
                      " && cd here && ../graphmill train x.yaml 2> '"
                    + said + "'";
  CATCH_CHECK(std::system(call.c_str()) != 0);
  const auto text = test::content_of(said);
  CATCH_CHECK(has(text, "graphmill-engine, which must be beside"));
  CATCH_CHECK(
    std::system(("'" + alone.string() + "' --version > /dev/null").c_str())
    == 0);
}
