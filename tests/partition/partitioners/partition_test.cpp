#include "partition/dataset/shard.hpp"
#include "partition/partitioners/graph/monitor.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/partitioners/check_partitions.hpp"
#include "tests/partition/partitioners/graphs.hpp"
#include "tests/support/child.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

dataset make_data(const fs::path& folder, std::uint64_t seed,
                  random_sizes sizes = {}) {
  fs::create_directory(folder);
  write_random(folder, seed, sizes);
  return value_of(dataset::open(folder));
}

/// The living children of this process.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    std::ifstream in{entry.path() / "stat"};
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;
    std::string state;
    if (in >> pid >> name >> state >> parent && parent == getpid())
      found.push_back(pid);
  }
  return found;
}

constexpr std::array all_methods{partition_method::metis, partition_method::ldg,
                                 partition_method::random};

/// Partitions twice, compares both with each other and one with the source.
void check_repeatable(const dataset& data, const partition_options& options) {
  temp_folder folder;
  const auto done =
    value_of(prepare_partitions(data, options, folder / "parts"));
  CATCH_CHECK(done.built);
  check_partitions(data, folder / "parts", done.report);
  const auto graph = value_of(partitioned_graph::open(folder / "parts"));
  CATCH_REQUIRE(graph.part_count() == options.parts);
  for (part_id p = 0; p < graph.part_count(); ++p)
    CATCH_CHECK(value_of(graph.open_shard(p))->part() == p);
  value_of(prepare_partitions(data, options, folder / "again"));
  CATCH_CHECK(read_json(folder / "parts/partitions.json")
              == read_json(folder / "again/partitions.json"));
}

} // namespace

CATCH_TEST_CASE("memory that was in use for a moment is seen",
                "[partition][partitioners]") {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  monitor watch{{}, nullptr, 0};
  watch.tell("work", 0);
  const auto before = watch.peak_memory_bytes();
  CATCH_REQUIRE(before > 0);
  {
    const std::vector<char> held(bytes, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds{15});
    watch.tell("work", 1);
    CATCH_CHECK(held.back() == 'x');
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{15});
  watch.tell("work", 2);
  CATCH_CHECK(watch.peak_memory_bytes() >= before + bytes / 10 * 9);
}

CATCH_TEST_CASE("memory of METIS's process is seen",
                "[partition][partitioners]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 1);
  for (const auto coarsen : {coarsening::never, coarsening::always}) {
    CATCH_INFO("coarsening " << static_cast<int>(coarsen));
    // In a process whose only child METIS is.
    const auto code = code_of_child([&] {
      const auto done =
        prepare_partitions(data, {.parts = 2, .coarsen = coarsen},
                           folder / std::to_string(static_cast<int>(coarsen)));
      rusage metis{};
      getrusage(RUSAGE_CHILDREN, &metis);
      const auto bytes = static_cast<std::uint64_t>(metis.ru_maxrss) << 10;
      return !done || bytes == 0                        ? 1
             : done.value().report.memory_bytes < bytes ? 2
                                                        : 0;
    });
    CATCH_CHECK(code == 0);
  }
}

CATCH_TEST_CASE("partitioning keeps everything", "[partition][parts]") {
  for (std::uint64_t seed : {1, 2}) {
    temp_folder folder;
    const auto data = make_data(folder / "data", seed);
    for (part_id parts : {1, 2, 3, 5, 8})
      for (auto method : all_methods) {
        CATCH_INFO("seed " << seed << ", " << parts << " parts by "
                           << to_string(method));
        check_repeatable(data, {.parts = parts, .method = method});
      }
    for (part_id parts : {2, 5, 8}) {
      CATCH_INFO("seed " << seed << ", " << parts << " parts, coarsened");
      check_repeatable(data, {.parts = parts, .coarsen = coarsening::always});
    }
  }
}

CATCH_TEST_CASE("more parts than one pass writes are the same parts",
                "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 12);
  check_repeatable(data, {.parts = 70, .method = partition_method::random});
}

CATCH_TEST_CASE("tiny graphs fit into as many parts as they have nodes",
                "[partition][parts]") {
  for (random_sizes sizes :
       {random_sizes{.papers = 4, .authors = 2, .venues = 1, .train = 2},
        random_sizes{.papers = 3, .authors = 0, .venues = 0, .train = 3},
        random_sizes{.papers = 30, .authors = 1, .venues = 1, .train = 3}}) {
    temp_folder folder;
    const auto data = make_data(folder / "data", 3, sizes);
    const auto nodes = sizes.papers + sizes.authors + sizes.venues;
    const auto parts = static_cast<part_id>(std::min<std::int64_t>(nodes, 8));
    for (auto method : all_methods) {
      CATCH_INFO(sizes.papers << " papers in " << parts << " parts by "
                              << to_string(method));
      check_repeatable(data, {.parts = parts, .method = method});
    }
    if (nodes < 8) {
      const auto refused =
        error_of(prepare_partitions(data, {.parts = 8}, folder / "parts"));
      CATCH_CHECK(refused.code == ec::invalid_argument);
      CATCH_CHECK(refused.message.find("at most as many parts as nodes")
                  != std::string::npos);
      CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
    }
  }
}

CATCH_TEST_CASE("small constraints are dealt out and said",
                "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 4, {.train = 10});
  const auto done =
    value_of(prepare_partitions(data, {.parts = 2}, folder / "parts"));
  const auto& rows = done.report.balance;
  const auto seeds = std::find_if(rows.begin(), rows.end(), [](auto& row) {
    return row.constraint == "training seeds";
  });
  CATCH_REQUIRE(seeds != rows.end());
  CATCH_CHECK(seeds->dealt);
  CATCH_CHECK(seeds->largest == 5);
  CATCH_CHECK(to_text(done.report).find("dealt out after")
              != std::string::npos);
  const auto stored =
    value_of(report_of(to_json(done.report), "partitions.json"));
  CATCH_CHECK(to_text(stored) == to_text(done.report));
}

CATCH_TEST_CASE("a partitions.json that has not its own digest is refused",
                "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 1);
  const auto parts = folder / "parts";
  value_of(prepare_partitions(data, {.parts = 2}, parts));
  const auto file = parts / "partitions.json";
  const auto sound = read_json(file);
  const auto write = [&file](const nlohmann::json& about) {
    std::ofstream{file} << about;
  };
  write(sound); // Laid out in another way.
  value_of(partitioned_graph::open(parts));
  const auto check_refused = [&](const nlohmann::json& about) {
    write(about);
    const auto reason = error_of(partitioned_graph::open(parts));
    CATCH_CHECK(reason.code == ec::invalid_data);
    CATCH_CHECK(reason.message.find(file.string() + " is damaged")
                != std::string::npos);
  };
  auto other = sound;
  other["seed"] = other["seed"].get<std::uint64_t>() + 1;
  check_refused(other);
  other.erase("own_digest"); // As older versions wrote it.
  write(other);
  value_of(partitioned_graph::open(parts));
  other["own_digest"] = 7;
  check_refused(other);
}

CATCH_TEST_CASE("the estimate tells the size on disk", "[partition][parts]") {
  temp_folder folder;
  const auto data =
    make_data(folder / "data", 10, {.papers = 20000, .authors = 5000});
  const partition_options options{.parts = 3,
                                  .method = partition_method::random};
  const auto estimate = estimate_partition(data.info(), options);
  const auto done =
    value_of(prepare_partitions(data, options, folder / "parts"));
  double bytes = 0;
  for (const auto& row : done.report.part_rows)
    bytes += static_cast<double>(row.bytes);
  const auto ratio = static_cast<double>(estimate.disk_bytes) / bytes;
  CATCH_CHECK(ratio > 0.9);
  CATCH_CHECK(ratio < 1.2);
  // Every array of every part is mapped.
  std::int64_t arrays = 0;
  for (part_id p = 0; p < options.parts; ++p)
    for (const auto& entry : fs::recursive_directory_iterator{
           folder / fmt::format("parts/part-{}", p)})
      arrays += entry.path().extension() == ".npy";
  // With each part, the original ids of all nodes of each type, too.
  arrays += options.parts * std::ssize(data.info().node_types);
  CATCH_CHECK(estimate.mapped_files == arrays);
  // A row of labels may be longer than all else that a node has.
  auto info = data.info();
  auto& target = info.node_types[info.target];
  target.labels = label_kind::multi_label;
  target.class_count = 1008; // Bytes, where one class takes 8.
  CATCH_CHECK(estimate_partition(info, options).disk_bytes
              == estimate.disk_bytes
                   + 1000 * static_cast<std::uint64_t>(target.count));
}

CATCH_TEST_CASE("partitions are made once", "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 5);
  const partition_options options{.parts = 2};
  const auto out = folder / "parts";
  const auto first = value_of(prepare_partitions(data, options, out));
  const auto second = value_of(prepare_partitions(data, options, out));
  CATCH_CHECK(first.built);
  CATCH_CHECK_FALSE(second.built);
  CATCH_CHECK(to_text(first.report) == to_text(second.report));

  const auto other = make_data(folder / "other", 6);
  CATCH_CHECK(error_of(prepare_partitions(other, options, out))
                .message.find("another dataset")
              != std::string::npos);
  for (auto wrong : {partition_options{.parts = 3},
                     partition_options{.method = partition_method::ldg},
                     partition_options{.seed = 1}})
    CATCH_CHECK(error_of(prepare_partitions(data, wrong, out)).code
                == ec::invalid_argument);
  // However METIS made them, they are parts; but not the ones asked for here.
  CATCH_CHECK(
    error_of(prepare_partitions(
               data, {.parts = 2, .coarsen = coarsening::always}, out))
      .message.find("--coarsen never")
    != std::string::npos);
  CATCH_CHECK_FALSE(
    value_of(
      prepare_partitions(data, {.parts = 2, .coarsen = coarsening::never}, out))
      .built);
  CATCH_CHECK(error_of(prepare_partitions(data, options, folder / "data")).code
              == ec::invalid_argument);
  const auto part = value_of(dataset::open(folder / "parts/part-0"));
  CATCH_CHECK(
    error_of(prepare_partitions(part, options, folder / "deeper")).code
    == ec::invalid_argument);
  CATCH_CHECK(error_of(prepare_partitions(data, {.parts = 0}, out)).code
              == ec::invalid_argument);
}

CATCH_TEST_CASE("a killed METIS leaves nothing behind", "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 7);
  auto killed = 0;
  partition_options options{.parts = 2};
  // METIS's process waits for this call before it starts.
  options.on_progress = [&](const progress& now) {
    if (now.phase == "METIS")
      for (auto pid : children())
        killed += kill(pid, SIGKILL) == 0;
  };
  const auto failed =
    error_of(prepare_partitions(data, options, folder / "parts"));
  CATCH_CHECK(killed >= 1);
  CATCH_CHECK(failed.code == ec::out_of_memory);
  CATCH_CHECK(failed.message.find("METIS") != std::string::npos);
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
  CATCH_CHECK(children().empty());
}

CATCH_TEST_CASE("partitioning stops on request", "[partition][parts]") {
  temp_folder folder;
  const auto data = make_data(folder / "data", 8);
  for (const auto& [phase, coarsen] :
       std::array<std::pair<const char*, coarsening>, 10>{
         {{"check edges", coarsening::never},
          {"build symmetric graph", coarsening::never},
          {"METIS", coarsening::never},
          {"write parts", coarsening::never},
          {"done", coarsening::never}, // The files are yet to be fsynced.
          {"turn edges round", coarsening::always},
          {"cluster nodes", coarsening::always},
          {"join clusters", coarsening::always},
          {"METIS", coarsening::always},
          {"refine parts", coarsening::always}}}) {
    CATCH_INFO("in phase " << phase << ", coarsened "
                           << (coarsen == coarsening::always));
    std::atomic<bool> stop{false};
    partition_options options{.parts = 2, .coarsen = coarsen, .stop = &stop};
    options.on_progress = [&, wanted = phase](const progress& now) {
      stop = stop || now.phase == wanted;
    };
    CATCH_CHECK(
      error_of(prepare_partitions(data, options, folder / "parts")).code
      == ec::cancelled);
    CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
    CATCH_CHECK(children().empty());
  }
}

CATCH_TEST_CASE("broken datasets are errors", "[partition][parts]") {
  temp_folder folder;
  make_data(folder / "data", 9);
  const auto edges = fs::path{folder / "data"} / "edges/paper__cites__paper";
  const auto break_it = [&](const char* name, std::int64_t at, auto value) {
    const auto file = edges / name;
    const auto array = value_of(npy_array::open(file));
    std::vector<decltype(value)> values(
      value_of(array.as<decltype(value)>()).begin(),
      value_of(array.as<decltype(value)>()).end());
    values[at] = value;
    value_of(write_npy<decltype(value)>(file, values));
  };
  CATCH_SECTION("a source that does not exist") {
    break_it("indices.npy", 17, std::int32_t{300});
  }
  CATCH_SECTION("a negative source") {
    break_it("indices.npy", 0, std::int32_t{-1});
  }
  CATCH_SECTION("lists that run backwards") {
    break_it("indptr.npy", 40, std::int64_t{1});
  }
  CATCH_SECTION("lists beyond the edges") {
    break_it("indptr.npy", 40, std::int64_t{1} << 40);
  }
  const auto data = value_of(dataset::open(folder / "data"));
  for (auto method : {partition_method::metis, partition_method::ldg,
                      partition_method::random})
    CATCH_CHECK(
      error_of(prepare_partitions(data, {.method = method}, folder / "parts"))
        .code
      == ec::invalid_data);
  CATCH_CHECK(names_in(folder.path()) == std::vector<std::string>{"data"});
}
