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

} // namespace graphmill::test
