#include "partition/dataset/dataset.hpp"

#include "partition/dataset/data_records.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "partition/sampling/sampling.hpp"
#include "tests/fuzz/harnesses/example.hpp"
#include "tests/fuzz/registry.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

// Folders of datasets: what their JSON says, and what is in their arrays. A
// small dataset of each kind, whole and in two parts, of which one file is
// another one each time.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr std::array<part_id, 2> both{0, 1};

/// Puts a file in the place of another, and that one back.
class replaced {
public:
  replaced(fs::path path, std::string_view content)
    : path_(std::move(path)), before_(get_file(path_)) {
    put_file(path_, content);
  }
  ~replaced() { put_file(path_, before_); }
  replaced(const replaced&) = delete;
  replaced& operator=(const replaced&) = delete;

private:
  fs::path path_;
  std::string before_;
};

void verify(const fs::path& folder, std::span<const part_id> parts) {
  if (const auto records = records_in(folder, parts))
    (void)verify_all(records.value(), {});
}

// -- dataset.json

/// Of an example that has another one's dataset.json it is found out.
void open_with(const example_folders& at, std::string_view input) {
  const replaced file{at.whole / "dataset.json", input};
  const auto data = dataset::open(at.whole);
  if (!data)
    return;
  (void)unused_arrays(data.value());
  // Digests, for instance, are read by those who compare them alone.
  const auto report = inspect_dataset(data.value());
  require(report || !report.error().message.empty(),
          "a dataset that cannot be inspected, without a sentence");
  verify(at.whole, std::array<part_id, 1>{0});
}

void read_dataset(std::string_view input) {
  if (const auto info = parse_dataset_info(input, "a text")) {
    const auto other = scratch() / "info";
    fs::create_directories(other);
    require(write_dataset_info(other, info.value()).has_value(),
            "what was read of a dataset cannot be written");
    const auto again = read_dataset_info(other);
    if (!again)
      broken("what was written of a dataset does not read: "
             + again.error().message);
    const auto text = get_file(other / "dataset.json");
    require(write_dataset_info(other, again.value()).has_value()
              && get_file(other / "dataset.json") == text,
            "what was written of a dataset reads as something else");
  }
  for (const auto& at : examples())
    open_with(at, input);
}

std::vector<std::string> dataset_texts() {
  std::vector<std::string> out;
  for (const auto& at : examples()) {
    out.push_back(get_file(at.whole / "dataset.json"));
    out.push_back(get_file(at.parts / "part-0" / "dataset.json"));
  }
  return out;
}

// -- parts, and what is sampled from them

void sample_from(const partitioned_graph& graph) {
  std::vector<std::shared_ptr<const shard>> shards;
  for (part_id part = 0; part < graph.part_count(); ++part) {
    auto opened = graph.open_shard(part);
    if (!opened)
      return;
    shards.push_back(std::move(opened).value());
  }
  const auto& info = graph.info();
  const sampling_scheme scheme{
    {2, std::vector<std::int32_t>(info.edge_types.size(), -1)},
    draw_kind::without_replacement,
    true};
  const auto batch =
    sample(graph, shards, scheme, 1, graph.seeds(split::train));
  for (const auto& part : shards)
    for (std::size_t t = 0; t < info.node_types.size(); ++t) {
      const auto& type = info.node_types[t];
      const auto& nodes = part->nodes(static_cast<node_type_id>(t));
      std::vector<node_id> ids(
        static_cast<std::size_t>(nodes.end - nodes.begin));
      std::iota(ids.begin(), ids.end(), nodes.begin);
      if (!nodes.has_features() || ids.size() > 1000
          || type.feature_width > 1000)
        continue;
      std::vector<float> rows(ids.size()
                              * static_cast<std::size_t>(type.feature_width));
      if (gather_features(*part, static_cast<node_type_id>(t), ids, {},
                          rows.data()))
        for (const auto value : rows)
          require(value - value == 0, "a feature that is no finite number");
      const auto form = row_form::of(type);
      std::vector<float> held(ids.size() * form.floats());
      if (form.packed()
          && gather_rows(*part, static_cast<node_type_id>(t), ids, {},
                         held.data()))
        for (std::size_t i = 0; i < ids.size(); ++i)
          require(is_sound(held.data() + i * form.floats(), form),
                  "a packed row that cannot be unpacked");
    }
  if (!batch)
    return;
  for (std::size_t t = 0; t < batch.value().nodes.size(); ++t)
    for (const auto id : batch.value().nodes[t].ids)
      require(id >= 0 && id < info.node_types[t].count,
              "a batch with a node that there is not");
}

/// By each of its label sets, too.
void sample_by_all_labels(const partitioned_graph& graph) {
  sample_from(graph);
  for (const auto& type : graph.info().node_types)
    for (const auto& set : type.label_sets)
      if (const auto shown = graph.with_labels(set.name))
        sample_from(shown.value());
}

void open_tasks(const fs::path& folder, const dataset_info& info) {
  for (const auto& task : info.tasks)
    if (const auto rows = open_task(folder, info, task.name); !rows)
      require(!rows.error().message.empty(),
              "a task that cannot be opened, without a sentence");
}

void open_parts_with(const example_folders& at, std::string_view input) {
  const replaced file{at.parts / "partitions.json", input};
  verify(at.parts, both);
  const auto graph = partitioned_graph::open(at.parts);
  if (!graph)
    return;
  for (std::size_t t = 0; t < graph.value().info().node_types.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    const auto count = graph.value().info().node_types[t].count;
    for (const node_id id : {node_id{0}, count / 2, count - 1}) {
      if (id < 0 || id >= count)
        continue;
      const auto owner = graph.value().owner(type, id);
      const auto offsets = graph.value().offsets(type);
      require(owner >= 0 && owner < graph.value().part_count()
                && offsets[static_cast<std::size_t>(owner)] <= id
                && id < offsets[static_cast<std::size_t>(owner) + 1],
              "a node without the part that owns it");
    }
  }
  open_tasks(at.parts, graph.value().info());
  sample_by_all_labels(graph.value());
}

void read_partitions(std::string_view input) {
  for (const auto& at : examples())
    open_parts_with(at, input);
}

std::vector<std::string> partition_texts() {
  std::vector<std::string> out;
  for (const auto& folders : examples()) {
    // Without a digest of itself, as older ones are: else no change gets far.
    const auto now = get_file(folders.parts / "partitions.json");
    auto older = now;
    const auto at = older.find(own_digest_field);
    require(at != std::string::npos, "partitions.json has no digest of itself");
    older[at] = 'X';
    out.push_back(now);
    out.push_back(older);
  }
  return out;
}

/// The first byte says of which example, the second which array; the rest takes
/// its place.
void read_arrays(std::string_view input) {
  cursor from{input};
  const auto& at = examples()[from.take<std::uint8_t>() % examples().size()];
  const auto which = from.take<std::uint8_t>() % at.arrays.size();
  const replaced file{at.arrays[which], from.rest()};
  for (const auto& folder : {at.whole, at.parts}) {
    verify(folder, both);
    const auto graph = partitioned_graph::open(folder);
    if (!graph)
      continue;
    sample_by_all_labels(graph.value());
    open_tasks(folder, graph.value().info());
  }
  if (const auto data = dataset::open(at.whole))
    require(inspect_dataset(data.value()).has_value(),
            "a dataset that opens cannot be inspected");
}

std::vector<std::string> damaged_arrays() {
  std::vector<std::string> out;
  for (std::size_t e = 0; e < examples().size(); ++e) {
    const auto& arrays = examples()[e].arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      out.push_back(std::string{static_cast<char>(e), static_cast<char>(i)}
                    + get_file(arrays[i]));
  }
  return out;
}

// -- what is remembered of verified files

/// The file in which a folder is remembered.
fs::path memory_file() {
  const auto& at = example();
  static const auto file = [&at] {
    auto memory = verified_files::open(at.whole, at.memory);
    const auto records = records_in(at.whole, std::array<part_id, 1>{0});
    require(records.has_value(), "the example has no records");
    for (const auto& record : records.value())
      memory.add(record);
    // Later than any change of a file.
    require(memory.save(std::numeric_limits<std::int64_t>::max()).has_value(),
            "nothing can be remembered");
    return fs::directory_iterator {
      at.memory
      } -> path();
  }();
  return file;
}

void read_memory(std::string_view input) {
  const auto& at = example();
  put_file(memory_file(), input);
  const auto memory = verified_files::open(at.whole, at.memory);
  const auto records = records_in(at.whole, std::array<part_id, 1>{0});
  require(records.has_value(), "the example has no records");
  for (const auto& record : records.value())
    (void)memory.knows(record);
  require(memory.save(std::numeric_limits<std::int64_t>::max()).has_value(),
          "what was remembered cannot be written again");
}

std::vector<std::string> memories() {
  static const auto sound = get_file(memory_file());
  return {sound};
}

} // namespace

const harness dataset_harness{"dataset", "dataset.json", read_dataset,
                              dataset_texts, 400};
const harness partitions_harness{"partitions", "partitions.json",
                                 read_partitions, partition_texts, 200};
const harness shard_arrays_harness{"shard_arrays",
                                   "arrays of datasets and of their parts",
                                   read_arrays, damaged_arrays, 200};
const harness verified_harness{"verified", "what is remembered of sound files",
                               read_memory, memories, 500};

} // namespace graphmill::fuzz
