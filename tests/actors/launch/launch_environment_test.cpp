#include "actors/launch/launch_environment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <map>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using variables = std::map<std::string, std::string>;

result<std::optional<launch_environment>>
read(const variables& set, std::uint32_t devices = 0, bool addressed = false) {
  return read_launch_environment(
    [&set](const std::string& name) -> std::optional<std::string> {
      const auto found = set.find(name);
      return found == set.end() ? std::nullopt : std::optional{found->second};
    },
    devices, addressed);
}

} // namespace

CATCH_TEST_CASE("without a launcher nothing is filled in",
                "[launch_environment]") {
  for (const auto& set :
       {variables{}, variables{{"RANK", "0"}}, variables{{"WORLD_SIZE", "4"}},
        variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}},
        variables{{"SLURM_JOB_NODELIST", "n[1-2]"}},
        variables{
          {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"MASTER_ADDR", "n1"}},
        variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}})
    CATCH_CHECK(!value_of(read(set)));
}

CATCH_TEST_CASE("ranks of torchrun", "[launch_environment]") {
  variables set{{"RANK", "0"},
                {"WORLD_SIZE", "3"},
                {"MASTER_ADDR", "head.local"},
                {"MASTER_PORT", "29500"}};
  auto got = value_of(read(set));
  CATCH_REQUIRE(got);
  CATCH_CHECK(got->rank == 0);
  CATCH_CHECK(got->world == 3);
  CATCH_CHECK(got->name == "daemon-0");
  CATCH_CHECK(got->listen == "tcp://*:29500");
  CATCH_CHECK(got->advertise == "head.local");
  CATCH_CHECK(got->join.empty());
  CATCH_CHECK(got->serve(8) == "0,3,6");

  auto alone = set;
  alone["WORLD_SIZE"] = "1";
  got = value_of(read(alone));
  CATCH_REQUIRE(got);
  CATCH_CHECK(got->listen == "tcp://*:29500");
  CATCH_CHECK(got->join.empty());
  CATCH_CHECK(got->serve(3) == "0-2");

  set["RANK"] = "2";
  got = value_of(read(set));
  CATCH_REQUIRE(got);
  CATCH_CHECK(got->name == "daemon-2");
  CATCH_CHECK(got->listen == "tcp://*:0");
  CATCH_CHECK(got->advertise.empty());
  CATCH_CHECK(got->join == "tcp://head.local:29500");
  CATCH_CHECK(got->serve(8) == "2,5");
  CATCH_CHECK(got->serve(2) == "0");

  // Daemons of one machine take a device each.
  CATCH_CHECK(got->devices.empty());
  CATCH_CHECK(got->local_world == 1);
  set["LOCAL_RANK"] = "1";
  set["LOCAL_WORLD_SIZE"] = "1";
  CATCH_CHECK(error_of(read(set)).message.find("LOCAL_RANK is `1`")
              != std::string::npos);
  set["LOCAL_RANK"] = "3";
  set["LOCAL_WORLD_SIZE"] = "4";
  CATCH_CHECK(value_of(read(set, 8))->devices == "3");
  CATCH_CHECK(value_of(read(set, 8))->local_world == 4);
  CATCH_CHECK(value_of(read(set, 2))->devices == "1");
  CATCH_CHECK(value_of(read(set, 1))->devices.empty());
  CATCH_CHECK(value_of(read(set, 0))->devices.empty());
  set["CUDA_VISIBLE_DEVICES"] = "4,GPU-6f";
  CATCH_CHECK(value_of(read(set, 8))->devices == "GPU-6f");
  set["CUDA_VISIBLE_DEVICES"] = "5";
  CATCH_CHECK(value_of(read(set, 8))->devices.empty());
  set["LOCAL_RANK"] = "0";
  set["LOCAL_WORLD_SIZE"] = "1";
  set["CUDA_VISIBLE_DEVICES"] = "4,5";
  CATCH_CHECK(value_of(read(set, 8))->devices.empty());

  // torchrun listens at that port itself.
  set["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  CATCH_CHECK(value_of(read(set))->join == "tcp://head.local:29501");
  set["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  CATCH_CHECK(value_of(read(set))->join == "tcp://head.local:29500");

  set["MASTER_ADDR"] = "127.0.0.1";
  CATCH_CHECK(value_of(read(set))->listen == "tcp://127.0.0.1:0");
  set["MASTER_ADDR"] = "fd00::7";
  CATCH_CHECK(value_of(read(set))->listen == "tcp://[::]:0");
  CATCH_CHECK(value_of(read(set))->join == "tcp://[fd00::7]:29500");
}

CATCH_TEST_CASE("tasks of SLURM", "[launch_environment]") {
  variables set{{"SLURM_PROCID", "1"},
                {"SLURM_NTASKS", "4"},
                {"SLURM_JOB_NODELIST", "gpu[07-08,11],login"}};
  auto got = value_of(read(set));
  CATCH_REQUIRE(got);
  CATCH_CHECK(got->rank == 1);
  CATCH_CHECK(got->world == 4);
  CATCH_CHECK(got->join == "tcp://gpu07:7800");
  set["MASTER_ADDR"] = "10.0.0.1";
  set["MASTER_PORT"] = "12000";
  CATCH_CHECK(value_of(read(set))->join == "tcp://10.0.0.1:12000");
  // torchrun within SLURM: its ranks are the ones that count.
  set["RANK"] = "7";
  set["WORLD_SIZE"] = "8";
  CATCH_CHECK(value_of(read(set))->rank == 7);
}

CATCH_TEST_CASE("variables that make no sense are errors",
                "[launch_environment]") {
  const variables good{{"RANK", "0"},
                       {"WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "a"},
                       {"MASTER_PORT", "7800"}};
  value_of(read(good));
  const std::vector<std::pair<std::string, std::string>> changes{
    {"RANK", "2"},        {"RANK", "-1"},          {"RANK", "x"},
    {"RANK", ""},         {"WORLD_SIZE", "0"},     {"WORLD_SIZE", "1e3"},
    {"MASTER_PORT", "0"}, {"MASTER_PORT", "http"}, {"MASTER_PORT", "65536"},
    {"MASTER_ADDR", ""},  {"MASTER_ADDR", "a b"}};
  for (const auto& [name, value] : changes) {
    CATCH_INFO(name << "=" << value);
    auto set = good;
    set[name] = value;
    CATCH_CHECK(error_of(read(set)).code == ec::invalid_argument);
  }
  auto set = good;
  set.erase("MASTER_ADDR");
  for (const auto* word : {"MASTER_ADDR", "`unset RANK WORLD_SIZE`"})
    CATCH_CHECK(error_of(read(set)).message.find(word) != std::string::npos);
  // Where flags say where it is, the rest counts.
  const auto addressed = value_of(read(set, 0, true));
  CATCH_REQUIRE(addressed);
  CATCH_CHECK(addressed->name == "daemon-0");
  CATCH_CHECK(addressed->listen.empty());
}

CATCH_TEST_CASE("the first host of SLURM's lists", "[launch_environment]") {
  const variables lists{{"node1", "node1"},
                        {"node1,node2", "node1"},
                        {"n[001-003,007],m5", "n001"},
                        {"n[12]", "n12"},
                        {"n[3,1-2]", "n3"},
                        {"rack[2-3]n[05-16].lan", "rack2n05.lan"},
                        {"rack[2-3]-x,b", "rack2-x"}};
  for (const auto& [list, first] : lists) {
    CATCH_INFO(list);
    CATCH_CHECK(value_of(first_slurm_host(list)) == first);
  }
  for (const auto* list :
       {"", ",a", "n[", "n[1-2", "n[]", "n[-2]", "n]1", "a b", "[,]"}) {
    CATCH_INFO(list);
    CATCH_CHECK(error_of(first_slurm_host(list)).code == ec::invalid_argument);
  }
}
