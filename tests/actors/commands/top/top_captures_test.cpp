#include "actors/commands/top/top_screen.hpp"
#include "tests/actors/commands/top/top_fixture.hpp"
#include "tests/actors/commands/top/top_scenes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace graphmill::test {

namespace {

constexpr std::array captured_sizes{top_canvas{24, 80, true},
                                    top_canvas{50, 160, true}};

/// Where the page of monitoring finds it.
std::filesystem::path capture_file(const top_scene& scene,
                                   const top_canvas& canvas) {
  return std::filesystem::path{GRAPHMILL_CAPTURES}
         / fmt::format("{}-{}x{}.txt", scene.name, canvas.columns, canvas.rows);
}

std::string captured(const top_scene& scene, const top_canvas& canvas) {
  std::string out;
  for (const auto& line : top_texts_of(top_screen(scene.data, {}, canvas, 0)))
    out += line + '\n';
  return out;
}

} // namespace

CATCH_TEST_CASE("the captures of top are what it shows", "[top]") {
  for (const auto& scene : top_scenes())
    for (const auto& canvas : captured_sizes) {
      const auto file = capture_file(scene, canvas);
      CATCH_INFO(file << ": written anew by `test_top '[write_captures]'`");
      CATCH_CHECK(content_of(file) == captured(scene, canvas));
    }
}

CATCH_TEST_CASE("captures of top are written", "[.][write_captures]") {
  for (const auto& scene : top_scenes())
    for (const auto& canvas : captured_sizes) {
      std::ofstream out{capture_file(scene, canvas), std::ios::binary};
      out << captured(scene, canvas);
      CATCH_CHECK(out.flush().good());
    }
}

} // namespace graphmill::test
