#include "pipelines/results/safetensors.hpp"

#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fcntl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

namespace graphmill::test {

namespace {

/// The bytes of a file with this JSON header and `data` bytes of zeros.
std::string file_of(std::string json, std::size_t data) {
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = json.size();
  std::string out(sizeof(length), '\0');
  std::memcpy(out.data(), &length, sizeof(length));
  return out + json + std::string(data, '\0');
}

std::string tensor(const std::string& name, const std::string& shape,
                   std::uint64_t begin, std::uint64_t end) {
  return fmt::format(
    R"("{}":{{"dtype":"F32","shape":{},"data_offsets":[{},{}]}})", name, shape,
    begin, end);
}

tensor_file some_weights() {
  return {.tensors = {{"layer1.weight", {2, 3}, {1, -2, 3.5f, 0, 0.25f, 6}},
                      {"a \"quoted\" näme", {}, {42}},
                      {"empty", {0, 4}, {}},
                      {"bias", {2}, {0.125f, -1}}},
          .metadata = {{"format", "graphmill"}, {"digest", "abc"}}};
}

/// What comes of a file with these bytes.
result<tensor_file> read_bytes(const temp_folder& folder,
                               std::string_view bytes) {
  const auto path = folder / "bytes.safetensors";
  std::ofstream{path, std::ios::binary} << bytes;
  return read_safetensors(path);
}

} // namespace

CATCH_TEST_CASE("tensors that are written to a file are those of weights",
                "[kernels]") {
  const temp_folder folder;
  auto content = some_weights();
  // More than is hashed and written at once.
  std::vector<float> large(100'003);
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<float>(i);
  content.tensors.push_back({"large", {100'003}, large});
  value_of(write_safetensors(folder / "weights", content));
  const auto wanted = value_of(read_text(folder / "weights", 1 << 20));
  const auto path = folder / "tensors";
  const auto file = value_of(open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  const auto digest = value_of(
    write_tensors(file.get(), path, content.tensors, content.metadata));
  CATCH_CHECK(value_of(read_text(path, 1 << 20)) == wanted);
  content_hash hash;
  hash.update(wanted);
  CATCH_CHECK(digest == file_digest{wanted.size(), hash.digest()});
}

CATCH_TEST_CASE("weights come back as they were written", "[kernels]") {
  const temp_folder folder;
  const auto path = folder / "weights.safetensors";
  const auto content = some_weights();
  value_of(write_safetensors(path, content));
  value_of(write_safetensors(path, content)); // Replaces the first.
  const auto back = value_of(read_safetensors(path));
  CATCH_CHECK(back.metadata == content.metadata);
  CATCH_REQUIRE(back.tensors.size() == content.tensors.size());
  for (std::size_t i = 0; i < back.tensors.size(); ++i) {
    CATCH_CHECK(back.tensors[i].name == content.tensors[i].name);
    CATCH_CHECK(back.tensors[i].shape == content.tensors[i].shape);
    CATCH_CHECK(back.tensors[i].values == content.tensors[i].values);
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator{folder.path()})
    ++files;
  CATCH_CHECK(files == 1); // Nothing is left beside it.
}

CATCH_TEST_CASE("an independent reader finds the same weights", "[kernels]") {
  const temp_folder folder;
  const auto path = folder / "weights.safetensors";
  value_of(write_safetensors(path, some_weights()));
  std::ofstream{folder / "expected.json"}
    << R"({"layer1.weight": [[2, 3], 8.75], "empty": [[0, 4], 0.0],)"
       R"( "bias": [[2], -0.875], "a \"quoted\" n\u00e4me": [[], 42.0]})";
  const auto command =
    fmt::format("{} {} {} {}", GRAPHMILL_PYTHON, GRAPHMILL_READER,
                path.string(), (folder / "expected.json").string());
  CATCH_CHECK(std::system(command.c_str()) == 0);
}

CATCH_TEST_CASE("what cannot be saved is refused, and nothing is left",
                "[kernels]") {
  const temp_folder folder;
  const auto path = folder / "weights.safetensors";
  const auto refused = [&path](tensor_file content) {
    const auto failure = error_of(write_safetensors(path, content));
    CATCH_CHECK(failure.code == ec::invalid_argument);
    CATCH_CHECK(!std::filesystem::exists(path));
  };
  refused({.tensors = {{"", {1}, {1}}}, .metadata = {}});
  refused({.tensors = {{"a", {1}, {1}}, {"a", {1}, {1}}}, .metadata = {}});
  refused({.tensors = {{"__metadata__", {1}, {1}}}, .metadata = {}});
  refused({.tensors = {{"a", {2}, {1}}}, .metadata = {}});
  refused({.tensors = {{"\xff", {1}, {1}}}, .metadata = {}});
  CATCH_CHECK(error_of(write_safetensors(folder / "no/such/folder", {})).code
              == ec::not_found);
  CATCH_CHECK(error_of(read_safetensors(path)).code == ec::not_found);
  CATCH_CHECK(error_of(read_safetensors(folder.path())).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("broken safetensors files are refused with a sentence",
                "[kernels]") {
  const auto two = std::numeric_limits<std::uint64_t>::max() / 2;
  const auto json = GENERATE_COPY(
    std::string{}, std::string{"[]"}, std::string{"{"}, std::string{"null"},
    std::string(100000, '['), std::string{R"({"a":1})"},
    std::string{R"({"__metadata__":{"a":1}})"},
    "{" + tensor("a", "[2]", 0, 8) + "}",                      // Too short.
    "{" + tensor("a", "[4]", 0, 12) + "}",                     // Wrong size.
    "{" + tensor("a", "[3]", 4, 16) + "}",                     // Hole.
    "{" + tensor("a", "[4]", 16, 0) + "}",                     // Backwards.
    "{" + tensor("a", "[-4]", 0, 16) + "}",                    //
    "{" + tensor("a", "[4.0]", 0, 16) + "}",                   //
    "{" + tensor("a", "4", 0, 16) + "}",                       //
    "{" + tensor("a", "[[4]]", 0, 16) + "}",                   //
    "{" + tensor("a", "[4]", 0, two) + "}",                    //
    "{" + tensor("a", "[4294967296,4294967300]", 0, 16) + "}", // Overflow.
    "{" + tensor("a", "[1,1,1,1,1,1,1,1,4]", 0, 16) + "}",
    "{" + tensor("a", "[3]", 0, 12) + "," + tensor("b", "[2]", 8, 16) + "}",
    "{" + tensor("a", "[4]", 0, 16) + "," + tensor("b", "[4]", 0, 16) + "}",
    "{" + tensor("a", "[4]", 0, 16) + "," + tensor("a", "[4]", 0, 16) + "}",
    std::string{R"({"a":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}})"},
    std::string{R"({"a":{"dtype":"F32","shape":[4]}})"});
  CATCH_INFO(json.substr(0, 100));
  const temp_folder folder;
  const auto failure = error_of(read_bytes(folder, file_of(json, 16)));
  CATCH_CHECK(failure.code == ec::invalid_data);
  CATCH_CHECK(failure.message.find("bytes.safetensors") != std::string::npos);
  CATCH_CHECK(failure.message.find("json.exception") == std::string::npos);
}

CATCH_TEST_CASE("a file has as many tensors as a load may have", "[kernels]") {
  std::string tensors;
  for (int n = 0; n < 65536; ++n)
    tensors += tensor(std::to_string(n), "[0]", 0, 0) + ",";
  tensors.pop_back();
  const temp_folder folder;
  const auto most =
    value_of(read_bytes(folder, file_of("{" + tensors + "}", 0)));
  CATCH_CHECK(most.tensors.size() == 65536);
  const auto again = folder / "again.safetensors";
  value_of(write_safetensors(again, most));
  CATCH_CHECK(value_of(read_safetensors(again)).tensors.back().name
              == most.tensors.back().name);
  const auto more = "{" + tensors + "," + tensor("x", "[0]", 0, 0) + "}";
  CATCH_CHECK_THAT(error_of(read_bytes(folder, file_of(more, 0))).message,
                   contains("has 65537 tensors; at most 65536 are read"));
  tensor_file written;
  written.tensors.resize(65537);
  CATCH_CHECK(
    error_of(write_safetensors(folder / "w.safetensors", written)).message
    == "65537 tensors cannot be saved in a file, which has at most 65536");
}

CATCH_TEST_CASE("tensors that no memory holds are refused before they are made",
                "[kernels]") {
  const temp_folder folder;
  const auto path = folder / "large.safetensors";
  // Of 4 TiB, which take no room on disk.
  const auto bytes = std::uint64_t{1} << 42;
  const auto head =
    file_of("{" + tensor("a", "[1099511627776]", 0, bytes) + "}", 0);
  value_of(write_text(path, head));
  std::filesystem::resize_file(path, head.size() + bytes);
  const auto failure = error_of(read_safetensors(path));
  CATCH_CHECK(failure.code == ec::out_of_memory);
  CATCH_CHECK_THAT(failure.message,
                   contains("large.safetensors has 4.00 TiB of tensors"));
}

CATCH_TEST_CASE("values of a header are counted before any is made",
                "[kernels]") {
  const temp_folder folder;
  std::string zeros(2 * (std::size_t{1} << 20) + 1, '0');
  for (std::size_t at = 1; at < zeros.size(); at += 2)
    zeros[at] = ',';
  const auto header = "{" + tensor("a", "[" + zeros + "]", 0, 0) + "}";
  // Commas of the shape and three others, four brackets, and the outermost.
  CATCH_CHECK_THAT(error_of(read_bytes(folder, file_of(header, 0))).message,
                   contains("some 1048584 values; at most 1048576 are read"));
}

CATCH_TEST_CASE("no truncation or flipped byte crashes the reader",
                "[kernels]") {
  const temp_folder folder;
  const auto path = folder / "weights.safetensors";
  value_of(write_safetensors(path, some_weights()));
  const auto good = content_of(path);
  for (std::size_t size = 0; size < good.size(); ++size)
    CATCH_CHECK(!read_bytes(folder, good.substr(0, size)));
  std::mt19937_64 random{11};
  for (int round = 0; round < 1000; ++round) {
    auto bad = good;
    for (int flips = 0; flips < 3; ++flips)
      bad[random() % bad.size()] = static_cast<char>(random());
    const auto got = read_bytes(folder, bad);
    if (!got)
      CATCH_CHECK(got.error().code == ec::invalid_data);
  }
}

} // namespace graphmill::test
