#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/files/file_io.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/kept_example.hpp"
#include "tests/support/result.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

constexpr std::array<part_id, 2> both{0, 1};

std::vector<digest_record> records_at(const fs::path& folder) {
  return value_of(records_in(folder, both));
}

std::vector<fs::path> arrays_below(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.path().extension() == ".npy"
        && value_of(npy_array::open(entry.path())).size() > 0)
      out.push_back(entry.path());
  return out;
}

/// As a Graphmill has written it that knew of no digests of arrays.
void forget_array_digests(const fs::path& json) {
  nlohmann::json about;
  std::ifstream{json} >> about;
  CATCH_REQUIRE(about.erase("array_digests") == 1);
  std::ofstream{json} << about;
}

std::string found_in(const fs::path& folder) {
  return error_of(verify_all(records_at(folder), {})).message;
}

/// Whether anything had to be read.
bool reads(const std::vector<digest_record>& records, verified_files& memory) {
  auto read = false;
  value_of(verify_all(
    records,
    {.memory = &memory, .on_progress = [&](const progress&) { read = true; }}));
  return read;
}

} // namespace

CATCH_TEST_CASE("every array is on record, and damage to each is found",
                "[partition][verification]") {
  const kept_example f;
  for (const auto& folder : {f.whole, f.parts}) {
    const auto sound = records_at(folder);
    value_of(verify_all(sound, {}));
    const auto arrays = arrays_below(folder);
    CATCH_CHECK(arrays.size() >= 10);
    for (const auto& array : arrays) {
      CATCH_INFO(array);
      flip_bit(array);
      const auto found = error_of(verify_all(records_at(folder), {}));
      CATCH_CHECK(found.code == ec::invalid_data);
      CATCH_CHECK(found.message.find(array.string() + " is damaged")
                  != std::string::npos);
      flip_bit(array);
    }
    value_of(verify_all(records_at(folder), {}));
  }
}

CATCH_TEST_CASE("folders without digests of arrays have one of all",
                "[partition][verification]") {
  const kept_example f;
  forget_array_digests(f.whole / "dataset.json");
  forget_array_digests(f.parts / "part-0" / "dataset.json");
  value_of(verify_all(records_at(f.whole), {}));
  value_of(verify_all(records_at(f.parts), {}));
  const fs::path features = fs::path{"nodes"} / "paper" / "features.npy";
  flip_bit(f.whole / features);
  CATCH_CHECK(error_of(verify_all(records_at(f.whole), {}))
                .message.find(f.whole.string() + " is damaged")
              != std::string::npos);
  flip_bit(f.parts / "part-0" / features);
  CATCH_CHECK(error_of(verify_all(records_at(f.parts), {}))
                .message.find((f.parts / "part-0").string() + " is damaged")
              != std::string::npos);
}

CATCH_TEST_CASE("what was verified is remembered by its state",
                "[partition][verification]") {
  const kept_example f;
  const auto records = records_at(f.parts);
  auto first = verified_files::open(f.parts, f.memory);
  CATCH_CHECK(reads(records, first));
  value_of(first.save(f.later()));
  auto second = verified_files::open(f.parts, f.memory);
  CATCH_CHECK_FALSE(reads(records, second));
  // Another folder knows nothing of it.
  auto other = verified_files::open(f.whole, f.memory);
  CATCH_CHECK(reads(records, other));
  // The same bytes again, but who would know.
  const auto array = f.parts / "part-1" / "nodes" / "paper" / "labels.npy";
  flip_bit(array);
  flip_bit(array);
  fs::last_write_time(array,
                      fs::last_write_time(array) + std::chrono::hours{1});
  CATCH_CHECK(reads(records_at(f.parts), second));
  flip_bit(array);
  fs::last_write_time(array,
                      fs::last_write_time(array) + std::chrono::hours{2});
  CATCH_CHECK(
    error_of(verify_all(records_at(f.parts), {.memory = &second})).code
    == ec::invalid_data);
}

CATCH_TEST_CASE("a file that has just changed is not remembered",
                "[partition][verification]") {
  const kept_example f;
  const auto records = records_at(f.whole);
  auto first = verified_files::open(f.whole, f.memory);
  CATCH_CHECK(reads(records, first));
  value_of(first.save(records.front().pieces.front().stamp.changed));
  auto second = verified_files::open(f.whole, f.memory);
  CATCH_CHECK(reads(records, second));
}

CATCH_TEST_CASE("a memory that others may have written, or broken, is empty",
                "[partition][verification]") {
  const kept_example f;
  const auto records = records_at(f.whole);
  auto first = verified_files::open(f.whole, f.memory);
  CATCH_CHECK(reads(records, first));
  value_of(first.save(f.later()));
  const auto file = fs::directory_iterator {
    f.memory
    } -> path();
  const auto reads_again = [&] {
    auto again = verified_files::open(f.whole, f.memory);
    return reads(records, again);
  };
  CATCH_CHECK_FALSE(reads_again());
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CATCH_CHECK(reads_again());
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  CATCH_CHECK_FALSE(reads_again());
  fs::permissions(f.memory, fs::perms::group_write, fs::perm_options::add);
  CATCH_CHECK(reads_again());
  CATCH_CHECK(error_of(first.save(f.later())).code == ec::permission);
  fs::permissions(f.memory, fs::perms::group_write, fs::perm_options::remove);
  for (const auto* text :
       {"", "{", "[]", "{\"format_version\": 1, \"files\": []}",
        "{\"format_version\": 1, \"files\": {\"/x\": {\"state\": [1]}}}",
        "{\"format_version\": 1, \"files\": {\"/x\": {\"digest\": \"\", "
        "\"state\": [1e300, 1, 1, 1, 1]}}}",
        "{\"format_version\": 1e300, \"files\": {}}",
        "{\"format_version\": 99}"}) {
    CATCH_INFO(text);
    std::ofstream{file} << text;
    CATCH_CHECK(reads_again());
  }
}

CATCH_TEST_CASE("files that change under a verification are named",
                "[partition][verification]") {
  const kept_example f;
  const auto labels = f.whole / "nodes" / "paper" / "labels.npy";
  const auto records = records_at(f.whole);
  value_of(still_unchanged(records, replaced_files::count));
  fs::copy(labels, f.folder / "copy");
  fs::rename(f.folder / "copy", labels);
  CATCH_CHECK(error_of(verify_all(records, {})).message.find(labels.string())
              != std::string::npos);
  value_of(still_unchanged(records, replaced_files::pass));
  CATCH_CHECK_FALSE(still_unchanged(records, replaced_files::count));
  const auto anew = records_at(f.whole);
  fs::resize_file(labels, 130);
  CATCH_CHECK(error_of(verify_all(anew, {})).message.find(labels.string())
              != std::string::npos);
  CATCH_CHECK_FALSE(still_unchanged(anew, replaced_files::pass));
}

CATCH_TEST_CASE("a verification can be stopped", "[partition][verification]") {
  const kept_example f;
  const std::atomic<bool> stop{true};
  CATCH_CHECK(error_of(verify_all(records_at(f.whole), {.stop = &stop})).code
              == ec::cancelled);
}

CATCH_TEST_CASE("what dataset.json says of sound arrays is verified, too",
                "[partition][verification]") {
  const kept_example f;
  const auto json = f.whole / "dataset.json";
  auto memory = verified_files::open(f.whole, f.memory);
  CATCH_CHECK(reads(records_at(f.whole), memory));
  change(json, [](auto& about) {
    for (auto& type : about["node_types"])
      if (type["class_count"] != 0) {
        type["class_count"] = type["class_count"].template get<int>() + 1;
        type["class_names"] = nlohmann::json::array();
      }
  });
  CATCH_CHECK(found_in(f.whole).find(json.string() + " is damaged")
              != std::string::npos);
  // Nor is it taken for what was verified, whose arrays have not changed.
  CATCH_CHECK_FALSE(verify_all(records_at(f.whole), {.memory = &memory}));
}

CATCH_TEST_CASE("a table of digests has every file that is used",
                "[partition][verification]") {
  const kept_example f;
  const auto rename = [](nlohmann::json& table, std::string_view ending) {
    const auto digests = table.get<std::map<std::string, std::string>>();
    for (const auto& [name, digest] : digests)
      if (name.ends_with(ending)) {
        table["other/" + name] = digest;
        table.erase(name);
        return name;
      }
    CATCH_FAIL("nothing ends with " << ending);
    return std::string{};
  };
  const auto check = [&](const fs::path& folder, const fs::path& book,
                         const char* field, std::string_view ending) {
    const auto before = value_of(read_text(book, 1 << 20));
    std::string name;
    change(book, [&](auto& about) { name = rename(about[field], ending); });
    const auto file = (book.parent_path() / name).string();
    CATCH_INFO(file);
    CATCH_CHECK(found_in(folder).find(file + " has no digest on record")
                != std::string::npos);
    // Whoever does not verify opens it as before.
    for (auto part : both)
      value_of(value_of(partitioned_graph::open(folder))
                 .open_shard(folder == f.whole ? 0 : part));
    value_of(write_text(book, before));
    value_of(verify_all(records_at(folder), {}));
  };
  const auto part = f.parts / "part-1" / "dataset.json";
  for (const auto* ending : {"features.npy", "indices.npy", "in_degrees.npy"}) {
    check(f.whole, f.whole / "dataset.json", "array_digests", ending);
    check(f.parts, part, "array_digests", ending);
  }
  check(f.parts, part, "array_digests", "original_ids.npy");
  check(f.parts, f.parts / "partitions.json", "seed_digests", "train.npy");
}

CATCH_TEST_CASE("folders that no digest is on record of are taken as they are",
                "[partition][verification]") {
  const kept_example f;
  const auto forget = [](auto& about) {
    about.erase("array_digests");
    about.erase("seed_digests");
  };
  change(f.whole / "dataset.json", [&](auto& about) {
    forget(about);
    about["digest"] = "";
  });
  CATCH_CHECK(records_at(f.whole).empty());
  change(f.parts / "partitions.json", forget);
  for (const auto* part : {"part-0", "part-1"})
    change(f.parts / part / "dataset.json", forget);
  value_of(verify_all(records_at(f.parts), {}));
}

CATCH_TEST_CASE("a folder is sound by whatever path it is named",
                "[partition][verification]") {
  const kept_example f;
  for (const auto& folder : {f.whole, f.parts})
    for (const auto& path :
         {folder / "", folder / ".", folder / "" / ".." / folder.filename(),
          fs::relative(folder), fs::path{folder.string() + "//"}}) {
      CATCH_INFO(path);
      value_of(verify_all(records_at(path), {}));
    }
}

CATCH_TEST_CASE("a change of what says what arrays are is a change",
                "[partition][verification]") {
  const kept_example f;
  for (const auto& json :
       {f.whole / "dataset.json", f.parts / "partitions.json",
        f.parts / "part-1" / "dataset.json"}) {
    CATCH_INFO(json);
    const auto folder =
      json.string().starts_with(f.whole.string()) ? f.whole : f.parts;
    const auto records = records_at(folder);
    value_of(still_unchanged(records, replaced_files::count));
    change(json, [](auto& about) { about["note"] = "here"; });
    CATCH_CHECK(error_of(still_unchanged(records, replaced_files::count))
                  .message.find(json.string())
                != std::string::npos);
  }
}
