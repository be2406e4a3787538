#include "partition/files/full_disk.hpp"

#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("a disk that is full on purpose takes nothing below a folder",
                "[files][full_disk]") {
  const temp_folder folder;
  const auto inside = folder / "runs/run-1";
  const auto beside = folder / "runs-2";
  value_of(make_folders(inside));
  value_of(make_folders(beside));
  fill_disk(folder / "runs", std::chrono::steady_clock::now() + 1h);
  const auto refused = error_of(write_text(inside / "a", "text"));
  CATCH_CHECK(refused.code == ec::no_space);
  CATCH_CHECK(refused.message
              == "cannot write " + (inside / "a").string()
                   + ": No space left on device");
  CATCH_CHECK(write_text(beside / "a", "text"));
  // Until it is over.
  fill_disk(folder / "runs", std::chrono::steady_clock::now());
  CATCH_CHECK(write_text(inside / "a", "text"));
  CATCH_CHECK(room_for(inside / "a"));
}
