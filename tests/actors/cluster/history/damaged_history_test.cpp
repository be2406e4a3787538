#include "tests/actors/cluster/history/histories.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fstream>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("a damaged history is set aside, and a new one begins",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  {
    auto history = value_of(open_history(file));
    CATCH_CHECK(history.set_aside().empty());
    for (int i = 0; i < 100; ++i)
      value_of(put(history, run_of("r" + std::to_string(i), i),
                   std::string(500, 'd')));
  }
  const auto overwrite = [&file](std::streamoff at, std::size_t size) {
    std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
    out.seekp(at);
    out << std::string(size, '\xff');
  };
  CATCH_SECTION("a page of the table") {
    overwrite(4096, 100);
  }
  CATCH_SECTION("the size of pages") {
    overwrite(16, 2);
  }
  CATCH_SECTION("cut short") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  }
  CATCH_SECTION("no table") {
    run_sql(file, "DROP TABLE runs");
  }
  CATCH_SECTION("a view in place of the table") {
    run_sql(file, "ALTER TABLE runs RENAME TO r; "
                  "CREATE VIEW runs AS SELECT * FROM r");
  }
  auto history = value_of(open_history(file));
  CATCH_INFO(history.set_aside());
  CATCH_CHECK(has(history.set_aside(), file.string() + ".damaged now"));
  CATCH_CHECK(std::filesystem::exists(file.string() + ".damaged"));
  CATCH_CHECK(value_of(history.list(10)).runs.empty());
  value_of(put(history, run_of("a", 1)));
  CATCH_CHECK(value_of(history.list(10)).runs.size() == 1);
}

CATCH_TEST_CASE("a second damaged history does not replace the first",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  for (const auto* name : {"runs.sqlite.damaged", "runs.sqlite.damaged-2"}) {
    value_of(open_history(file));
    run_sql(file, "DROP TABLE runs");
    CATCH_CHECK(has(value_of(open_history(file)).set_aside(),
                    (folder / name).string() + " now"));
  }
}

CATCH_TEST_CASE("what a history says of itself is not carried out",
                "[run_history]") {
  temp_folder folder;
  const auto file = folder / "runs.sqlite";
  make_history(file, "a");
  run_sql(file, "CREATE TRIGGER t AFTER INSERT ON runs "
                "BEGIN DELETE FROM runs WHERE id = 'a'; END");
  auto history = value_of(open_history(file));
  value_of(put(history, run_of("b", 2)));
  CATCH_CHECK(value_of(history.list(10)).runs.size() == 2);
}
