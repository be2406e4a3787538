#include "actors/commands/engine/prediction_files.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/mapped_file.hpp"
#include "partition/files/npy/npy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("rows that cannot be read make no files of predictions",
                "[predict]") {
  constexpr std::int64_t nodes = 4096;
  const temp_folder folder;
  const auto rows = folder.path() / "rows";
  value_of(write_text(rows, std::string(2 * nodes * sizeof(float), 'x')));
  const auto mapped = value_of(mapped_file::open(rows));
  prediction made;
  made.classes.resize(nodes);
  made.logits = {reinterpret_cast<const float*>(mapped.bytes().data()), nodes,
                 2};
  const auto write = [&](const char* name) {
    auto files = value_of(
      prediction_files::create({.out = folder.path() / name, .logits = true}));
    return files.write(made);
  };
  value_of(write("whole.npy"));
  const auto whole =
    value_of(npy_array::open(folder.path() / "whole.logits.npy"));
  value_of(whole.expect_shape({nodes, 2}));
  std::filesystem::resize_file(rows, 4096);
  CATCH_CHECK_THAT(error_of(write("short.npy")).message,
                   contains(rows.string()));
  CATCH_CHECK(
    names_in(folder.path())
    == std::vector<std::string>{"rows", "whole.logits.npy", "whole.npy"});
}

CATCH_TEST_CASE("labels of nodes that may have several are predicted",
                "[predict]") {
  const temp_folder folder;
  const std::vector<float> logits{1000, 0, -1000, 1000};
  prediction made;
  made.task = task_of(label_kind::multi_label);
  made.classes.resize(2);
  made.logits = {logits.data(), 2, 2};
  const auto write = [&](prediction_request request, const char* name) {
    request.out = folder.path() / name;
    request.probabilities = true;
    auto files = value_of(prediction_files::create(request));
    value_of(files.write(made));
  };
  write({}, "all.npy");
  const auto labels = value_of(npy_array::open(folder.path() / "all.npy"));
  value_of(labels.expect_shape({2, 2}));
  const auto values = value_of(labels.as<std::uint8_t>());
  CATCH_CHECK(std::vector<std::uint8_t>(values.begin(), values.end())
              == std::vector<std::uint8_t>{1, 0, 0, 1});
  const auto probabilities =
    value_of(npy_array::open(folder.path() / "all.probabilities.npy"));
  value_of(probabilities.expect_shape({2, 2}));
  const auto shares = value_of(probabilities.as<float>());
  CATCH_CHECK(std::vector<float>(shares.begin(), shares.end())
              == std::vector<float>{1, 0.5, 0, 1});
  made.ids = {9, 4};
  made.rows = {1, 0};
  made.class_names = {"a", "b"};
  write({.listed = true}, "some.csv");
  CATCH_CHECK(value_of(read_text(folder.path() / "some.csv", 1000))
              == "id,label_0,label_1,probability_0,probability_1\n"
                 "9,0,1,0,1\n"
                 "4,1,0,1,0.5\n");
}

CATCH_TEST_CASE("numbers are predicted as they come out", "[predict]") {
  const temp_folder folder;
  const std::vector<float> outputs{0.5, -2, 3, 4};
  prediction made;
  made.task = task_of(label_kind::regression);
  const auto write = [&](prediction_request request, const char* name) {
    request.out = folder.path() / name;
    auto files = value_of(prediction_files::create(request));
    value_of(files.write(made));
  };
  const auto values_in = [&](const char* name,
                             const std::vector<std::int64_t>& shape) {
    const auto array = value_of(npy_array::open(folder.path() / name));
    value_of(array.expect_shape(shape));
    const auto values = value_of(array.as<float>());
    return std::vector<float>(values.begin(), values.end());
  };
  made.classes.resize(2);
  made.logits = {outputs.data(), 2, 2};
  write({}, "two.npy");
  CATCH_CHECK(values_in("two.npy", {2, 2}) == outputs);
  made.classes.resize(4);
  made.logits = {outputs.data(), 4, 1};
  write({}, "one.npy");
  CATCH_CHECK(values_in("one.npy", {4}) == outputs);
  made.ids = {9, 4};
  made.rows = {3, 1};
  write({.listed = true}, "some.npy");
  CATCH_CHECK(values_in("some.npy", {2}) == std::vector<float>{4, -2});
  write({.listed = true}, "some.csv");
  CATCH_CHECK(value_of(read_text(folder.path() / "some.csv", 1000))
              == "id,value_0\n9,4\n4,-2\n");
}

CATCH_TEST_CASE("ids of tables stand beside those of nodes", "[predict]") {
  const temp_folder folder;
  dataset_info info;
  info.node_types = {{.name = "film", .count = 3},
                     {.name = "actor", .count = 2}};
  const auto films = folder / "data" / "nodes" / "film";
  std::filesystem::create_directories(films);
  const auto open = [&](node_type_id type) {
    return table_ids::open(folder / "data", info, type);
  };
  CATCH_CHECK(value_of(open(0)) == nullptr); // It was not made of tables.
  value_of(write_text(films / "ids.txt", "m1\n\"Up\", 3\n\n"));
  const auto names = value_of(open(0));
  CATCH_CHECK(value_of(open(1)) == nullptr);
  CATCH_CHECK(names->of(0) == "m1");
  CATCH_CHECK(names->of(1) == "\"Up\", 3");
  CATCH_CHECK(names->of(2).empty());
  const std::vector<float> rows{1, 2, 3, 4, 5};
  prediction made;
  made.names = names;
  made.class_names = {"a", "b"};
  made.embeddings = {{rows.data(), 3, 1}, {rows.data() + 3, 2, 1}};
  made.embedding_names = {names, nullptr};
  const auto write = [&](bool listed, const char* name) {
    auto files = value_of(prediction_files::create(
      {.out = folder / name, .listed = listed, .embeddings = {"", "actor"}}));
    value_of(files.write(made));
  };
  const auto content = [&](const char* name) {
    return value_of(read_text(folder / name, 1000));
  };
  made.classes = {1, 0, 1};
  write(false, "all.csv");
  CATCH_CHECK(content("all.csv")
              == "id,name,class,class_name\n0,m1,1,b\n"
                 "1,\"\"\"Up\"\", 3\",0,a\n2,,1,b\n");
  CATCH_CHECK(content("all.embeddings.csv")
              == "id,name,embedding_0\n0,m1,1\n1,\"\"\"Up\"\", 3\",2\n2,,3\n");
  CATCH_CHECK(content("all.embeddings.actor.csv")
              == "id,embedding_0\n0,4\n1,5\n");
  made.ids = {2, 0};
  made.rows = {2, 0};
  write(true, "some.csv");
  CATCH_CHECK(content("some.csv")
              == "id,name,class,class_name\n2,,1,b\n0,m1,1,b\n");
  for (const auto* wrong : {"m1\nm2\n", "m1\nm2\nm3\nm4\n", "m1\nm2\nm3", ""}) {
    CATCH_INFO(wrong);
    value_of(write_text(films / "ids.txt", wrong));
    CATCH_CHECK(error_of(open(0)).code == ec::invalid_data);
  }
}

} // namespace graphmill::test
