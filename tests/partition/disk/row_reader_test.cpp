#include "partition/disk/row_reader.hpp"

#include "partition/disk/sieve_cache.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <random>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::int64_t count = 3000;

/// Writes a dataset of two types with features of their own, and one without.
void write_dataset(const std::filesystem::path& folder, std::int64_t width,
                   bool half) {
  std::mt19937 random{static_cast<unsigned>(width)};
  std::uniform_real_distribution<float> value{-1, 1};
  dataset_info info;
  info.name = "featured";
  for (auto of : {width, std::int64_t{0}, 2 * width}) {
    node_type_info type;
    type.name = "type" + std::to_string(info.node_types.size());
    type.count = count;
    type.feature_width = of;
    type.feature_type = half ? dtype::float16 : dtype::float32;
    info.node_types.push_back(type);
  }
  info.node_types[0].class_count = 1;
  info.edge_types.push_back({0, "next_to", 0});
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  for (node_type_id t : {0, 2}) {
    std::vector<float> features(
      static_cast<std::size_t>(count * info.node_types[t].feature_width));
    std::generate(features.begin(), features.end(),
                  [&] { return value(random); });
    value_of(writer.append_features(t, features));
  }
  value_of(writer.set_labels(0, std::vector<std::int64_t>(count, 0)));
  value_of(writer.set_split(0, split::train, std::vector<node_id>{0}));
  value_of(writer.finish());
}

/// What a reader gives is to be compared with what is in memory.
struct scene {
  scene(std::int64_t width, bool half, row_reader::options how,
        const std::filesystem::path& folder)
    : rounded(how.rounded) {
    write_dataset(folder, width, half);
    part = value_of(value_of(partitioned_graph::open(folder)).open_shard(0));
    reader = value_of(row_reader::start(part, std::move(how), counters));
  }

  /// Asks for rows of a type; the future gives them, or an error.
  std::future<result<std::vector<float>>> ask(node_type_id type,
                                              std::vector<node_id> ids) {
    struct state {
      std::vector<node_id> ids;
      std::vector<local_id> rows;
      std::vector<float> out;
      std::promise<result<std::vector<float>>> promise;
    };
    auto job = std::make_shared<state>();
    job->ids = std::move(ids);
    job->rows.resize(job->ids.size());
    for (std::size_t i = 0; i < job->rows.size(); ++i)
      job->rows[i] = static_cast<local_id>(job->rows.size() - 1 - i);
    job->out.resize(job->ids.size() * width(type), 7);
    auto come = job->promise.get_future();
    reader->read({{type, job->ids, job->rows, job->out.data()}}, job,
                 [job](result<void> done) {
                   if (done)
                     job->promise.set_value(std::move(job->out));
                   else
                     job->promise.set_value(done.error());
                 });
    return come;
  }

  std::vector<float> expected(node_type_id type,
                              std::vector<node_id> ids) const {
    std::vector<float> out(ids.size() * width(type));
    std::reverse(ids.begin(), ids.end());
    value_of(gather_features(*part, type, ids, {}, out.data(), rounded));
    return out;
  }

  std::size_t width(node_type_id type) const {
    return static_cast<std::size_t>(
      part->info().node_types[type].feature_width);
  }

  std::shared_ptr<const shard> part;
  bool rounded = false;
  std::shared_ptr<disk_counters> counters = std::make_shared<disk_counters>();
  std::shared_ptr<row_reader> reader;
};

std::vector<node_id> some_ids(std::mt19937& random) {
  std::vector<node_id> ids(count);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<node_id>(i);
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(std::uniform_int_distribution<std::size_t>{1, 700}(random));
  return ids;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size()
         && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// A disk that fails at its n-th read.
class failing_reads final : public block_reads {
public:
  explicit failing_reads(int after) : left_(after) {}
  void begin(const read& wanted) override {
    std::memset(wanted.to, 0, wanted.size);
    waiting_.push_back({wanted.tag, left_-- > 0
                                      ? static_cast<std::int64_t>(wanted.size)
                                      : -EIO});
  }
  void collect(bool, std::vector<outcome>& out) override {
    out.insert(out.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }

private:
  int left_;
  std::deque<outcome> waiting_;
};

/// The file of the first type.
std::string file_of(const temp_folder& folder) {
  return (folder / "nodes/type0/features.npy").string();
}

/// Where rows begin in it: behind the header.
constexpr std::size_t first_row = 128;

} // namespace

CATCH_TEST_CASE("rows from disk have the bits of rows in memory",
                "[partition][disk]") {
  const std::array ways{ring_reads, pooled_reads};
  for (const auto way : ways) {
    if (!way(1))
      continue; // io_uring is not allowed here.
    for (const auto& [width, half, rounded] :
         {std::tuple{1, false, false}, std::tuple{100, false, false},
          std::tuple{100, false, true}, std::tuple{33, true, false},
          std::tuple{5000, false, false}}) {
      CATCH_INFO((way == ways[0] ? "ring" : "pool")
                 << ", width " << width << (half ? ", half" : "")
                 << (rounded ? ", rounded" : ""));
      temp_folder folder;
      row_reader::options how;
      how.cache_bytes = 40000;
      how.rounded = rounded;
      how.reads = way;
      scene on{width, half, how, folder.path()};
      std::mt19937 random{3};
      for (int round = 0; round < 3; ++round) {
        std::vector<std::vector<node_id>> ids;
        std::vector<std::future<result<std::vector<float>>>> come;
        for (int i = 0; i < 4; ++i) {
          ids.push_back(some_ids(random));
          come.push_back(on.ask(i % 2 == 0 ? 0 : 2, ids.back()));
        }
        for (int i = 0; i < 4; ++i)
          CATCH_CHECK(same_bits(
            value_of(come[static_cast<std::size_t>(i)].get()),
            on.expected(i % 2 == 0 ? 0 : 2, ids[static_cast<std::size_t>(i)])));
      }
      const auto& counted = *on.counters;
      CATCH_CHECK(counted.wanted
                  == counted.found + counted.shared + counted.rows);
    }
  }
}

CATCH_TEST_CASE("a row that is there or on its way is not read again",
                "[partition][disk]") {
  temp_folder folder;
  row_reader::options how;
  how.cache_bytes = 3 << 20;
  scene on{100, false, how, folder.path()};
  const std::vector<node_id> twice{5, 2900, 5};
  CATCH_CHECK(
    same_bits(value_of(on.ask(0, twice).get()), on.expected(0, twice)));
  CATCH_CHECK(on.counters->shared == 1);
  CATCH_CHECK(on.counters->rows == 2);
  value_of(on.ask(0, twice).get());
  CATCH_CHECK(on.counters->rows == 2);
  CATCH_CHECK(on.counters->found == 3);
  // Rows of 100 float32, kept before those who came second were answered.
  CATCH_CHECK(on.counters->kept == 2 * (400 + sieve_cache::bytes_per_row));
  CATCH_CHECK(on.counters->room == how.cache_bytes);
  CATCH_CHECK(value_of(on.ask(0, {}).get()).empty());
}

CATCH_TEST_CASE("a disk's error fails who waits, by the file's name",
                "[partition][disk]") {
  temp_folder folder;
  row_reader::options how;
  how.reads = [](unsigned) { return std::make_unique<failing_reads>(1); };
  scene on{100, false, how, folder.path()};
  value_of(on.ask(0, {7}).get());
  const auto reason = error_of(on.ask(0, {0, 1500}).get());
  CATCH_CHECK(reason.code == ec::io);
  CATCH_CHECK(reason.message.find(file_of(folder)) != std::string::npos);
}

CATCH_TEST_CASE("a file that is shortened in use is named, and others go on",
                "[partition][disk]") {
  for (const auto way : {ring_reads, pooled_reads}) {
    if (!way(1))
      continue;
    temp_folder folder;
    row_reader::options how;
    how.reads = way;
    scene on{100, false, how, folder.path()};
    std::filesystem::resize_file(file_of(folder), first_row + 400 * 1000);
    value_of(on.ask(0, {0, 999}).get());
    const auto reason = error_of(on.ask(0, {0, 1000}).get());
    CATCH_CHECK(reason.code == ec::io);
    CATCH_CHECK(reason.message.find("was shortened") != std::string::npos);
    CATCH_CHECK(reason.message.find(file_of(folder)) != std::string::npos);
    value_of(on.ask(2, {2999}).get());
  }
}

CATCH_TEST_CASE("a row that is no row of numbers fails by its node",
                "[partition][disk]") {
  temp_folder folder;
  scene on{100, false, {}, folder.path()};
  {
    std::fstream file{file_of(folder),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(first_row + 400 * 77 + 40);
    const auto infinite = std::numeric_limits<float>::infinity();
    file.write(reinterpret_cast<const char*>(&infinite), sizeof(infinite));
  }
  value_of(on.ask(0, {76, 78}).get());
  const auto reason = error_of(on.ask(0, {76, 77, 78}).get());
  CATCH_CHECK(reason.code == ec::invalid_data);
  CATCH_CHECK(reason.message.find("node 77 ") != std::string::npos);
}

CATCH_TEST_CASE("a reader that ends answers what it has not read",
                "[partition][disk]") {
  temp_folder folder;
  scene on{100, false, {}, folder.path()};
  for (int round = 0; round < 20; ++round) {
    on.reader = value_of(row_reader::start(on.part, {}, on.counters));
    std::mt19937 random{static_cast<unsigned>(round)};
    std::vector<std::future<result<std::vector<float>>>> come;
    for (int i = 0; i < 10; ++i)
      come.push_back(on.ask(0, some_ids(random)));
    on.reader.reset();
    for (auto& answer : come)
      if (auto got = answer.get(); !got)
        CATCH_CHECK(got.error().code == ec::cancelled);
  }
}

CATCH_TEST_CASE("a part that is in memory only cannot be read from disk",
                "[partition][disk]") {
  memory_graph graph = cycle(3);
  graph.nodes[0].width = 2;
  graph.nodes[0].features.resize(6);
  CATCH_CHECK(error_of(row_reader::start(whole(graph).shards.front(), {},
                                         std::make_shared<disk_counters>()))
                .code
              == ec::invalid_argument);
}
