#include "partition/disk/storage.hpp"

#include "partition/disk/disk_sampling.hpp"
#include "partition/files/memory_limit.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

namespace {

void write(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

constexpr std::uint64_t mib = 1 << 20;

/// A machine of 1000 MiB and a process in a group, of either version.
void write_machine(const temp_folder& folder, std::string_view groups,
                   std::string_view mounts) {
  write(folder / "proc/meminfo", "MemTotal: 2048000 kB\nMemFree: 10 kB\n"
                                 "MemAvailable:  1024000 kB\n");
  write(folder / "proc/self/cgroup", groups);
  write(folder / "proc/self/mountinfo", mounts);
}

/// From disk and from memory, the answers to a request are the same.
void check_same(const shard& part, const neighbour_request& request) {
  neighbour_reply a, b;
  value_of(sample_neighbours(part, request, a));
  value_of(sample_from_disk(part, request, b));
  CATCH_CHECK(list(a.counts) == list(b.counts));
  CATCH_CHECK(list(a.sources) == list(b.sources));
  CATCH_CHECK(list(a.edge_ids) == list(b.edge_ids));
  CATCH_CHECK(list(a.weights) == list(b.weights));
  CATCH_CHECK(b.weights.empty() != (request.weights && !b.sources.empty()));
  CATCH_CHECK(a.wide == b.wide);
}

std::uint64_t room(const temp_folder& folder) {
  return memory_available(folder / "proc", folder.path()).bytes;
}

} // namespace

CATCH_TEST_CASE("neighbours from disk are those from memory",
                "[partition][disk]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_weights(random_graph(seed, {60, 40}), seed);
    const auto parts =
      cut(graph, 3, random_assignment(graph, 3, seed), {seed % 2 == 0});
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      for (const auto& part : parts.shards) {
        const auto& nodes = part->nodes(graph.edges[e].destination);
        std::vector<node_id> everything;
        for (auto id = nodes.begin; id < nodes.end; ++id)
          everything.push_back(id);
        neighbour_request request;
        request.key = seed;
        request.hop = 1;
        request.edge_type = static_cast<edge_type_id>(e);
        request.rule.fanout = static_cast<std::int32_t>(seed % 5) - 1;
        request.rule.kind = static_cast<draw_kind>(
          seed % (1 + static_cast<std::uint64_t>(draw_kind::labor)));
        request.edge_ids = seed % 7 != 0;
        request.weights = e % 2 == 0 && seed % 3 != 0;
        request.destinations = everything;
        check_same(*part, request);
      }
  }
}

CATCH_TEST_CASE("a frontier of many pieces is sampled from disk as a whole",
                "[partition][disk]") {
  auto graph = cycle(10000);
  // A hub with a list of many pages.
  for (node_id i = 0; i < 9000; ++i)
    graph.edges[0].in[7].push_back(i);
  graph = with_weights(std::move(graph), 3);
  const auto parts = whole(graph);
  std::vector<node_id> nodes(10000);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = static_cast<node_id>((i * 7919) % nodes.size());
  for (std::int32_t fanout : {-1, 0, 1, 40}) {
    neighbour_request request{9, 1, 0, {fanout}, true, nodes, fanout != 1};
    check_same(*parts.shards[0], request);
  }
}

CATCH_TEST_CASE("requests from disk that make no sense are refused",
                "[partition][disk]") {
  const auto parts = whole(cycle(10));
  const std::vector<node_id> alien{3, 10};
  neighbour_reply reply;
  for (const neighbour_request& request :
       {neighbour_request{1, 1, 0, {2}, false, alien},
        neighbour_request{1, 1, 7, {2}, false, {}},
        neighbour_request{1, 0, 0, {2}, false, {}}})
    CATCH_CHECK(
      error_of(sample_from_disk(*parts.shards[0], request, reply)).code
      == ec::invalid_argument);
}

CATCH_TEST_CASE("bytes of a part are counted, features apart",
                "[partition][disk]") {
  auto graph = cycle(10);
  graph.nodes[0].width = 3;
  graph.nodes[0].features.resize(30);
  graph.nodes[0].labels.resize(10);
  const auto bytes = bytes_of(*whole(graph).shards[0]);
  CATCH_CHECK(bytes.features == 120);
  // labels, indptr, indices (int32), in- and out-degrees
  CATCH_CHECK(bytes.others == 80 + 88 + 80 + 40 + 40);
  graph.edges[0].feature_width = 2;
  graph.edges[0].features.assign(10, {1, 2, 3, 4}); // Of two edges each.
  const auto more = bytes_of(*whole(graph).shards[0]);
  CATCH_CHECK(more.features == 120);
  CATCH_CHECK(more.others == bytes.others + 20 * 2 * 4);
}

CATCH_TEST_CASE("memory is divided between pages and rows",
                "[partition][disk]") {
  const part_bytes data{1000, 100};
  CATCH_CHECK(divide(600, data).pages == 100);
  CATCH_CHECK(divide(600, data).row_cache == 500);
  CATCH_CHECK(divide(100, data).pages == 50);
  CATCH_CHECK(divide(100, data).row_cache == 50);
  CATCH_CHECK(divide(0, data).row_cache == 0);
  CATCH_CHECK(divide(9000, data).row_cache == 1250);
}

CATCH_TEST_CASE("memory there is: the system's, if no group bounds it",
                "[partition][disk]") {
  temp_folder folder;
  CATCH_CHECK(room(folder) > 1000000 * mib); // Nobody says anything.
  write_machine(folder, "0::/\n", "");
  CATCH_CHECK(room(folder) == 1000 * mib);
}

CATCH_TEST_CASE("memory there is: what groups of version 1 leave",
                "[partition][disk]") {
  temp_folder folder;
  write_machine(folder,
                "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/other\n",
                "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                "31 25 0:27 / /sys/fs/cgroup/memory rw,nosuid shared:9 - "
                "cgroup cgroup rw,memory\n");
  const auto top = folder / "sys/fs/cgroup/memory";
  write(top / "memory.limit_in_bytes", "9223372036854771712\n");
  write(top / "memory.usage_in_bytes", "999999999999\n");
  write(top / "a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write(top / "a/b/memory.usage_in_bytes", "12\n");
  CATCH_CHECK(room(folder) == 1000 * mib);
  // The group around it bounds it, and files in memory do not count.
  write(top / "a/memory.limit_in_bytes", std::to_string(500 * mib));
  write(top / "a/memory.usage_in_bytes", std::to_string(450 * mib));
  CATCH_CHECK(room(folder) == 50 * mib);
  write(top / "a/memory.stat",
        "active_file 1\ntotal_active_file " + std::to_string(100 * mib)
          + "\ntotal_inactive_file " + std::to_string(200 * mib) + "\n");
  const auto found = memory_available(folder / "proc", folder.path());
  CATCH_CHECK(found.bytes == 350 * mib);
  CATCH_CHECK(found.bound.find("/a") != std::string::npos);
  write(top / "a/memory.usage_in_bytes", std::to_string(900 * mib));
  CATCH_CHECK(room(folder) == 0);
}

CATCH_TEST_CASE("memory there is: what groups of version 2 leave",
                "[partition][disk]") {
  temp_folder folder;
  // In a container, the mount shows the container's own group as its root.
  write_machine(folder, "0::/box/inner\n",
                "31 25 0:27 /box /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  const auto top = folder / "sys/fs/cgroup";
  write(top / "memory.max", "max\n");
  write(top / "memory.current", "77\n");
  write(top / "inner/memory.max", std::to_string(300 * mib));
  write(top / "inner/memory.current", std::to_string(200 * mib));
  write(top / "inner/memory.stat",
        "inactive_file " + std::to_string(150 * mib) + "\nactive_file 0\n");
  CATCH_CHECK(room(folder) == 250 * mib);
}
