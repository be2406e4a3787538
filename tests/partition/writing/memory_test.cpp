#include "messages/base/random.hpp"
#include "partition/importers/csv/text/id_map.hpp"
#include "partition/writing/memory_needs.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("ids are numbered in the order in which they come",
                "[dataset][ids]") {
  id_map ids;
  CATCH_CHECK_FALSE(ids.find("a"));
  CATCH_CHECK(ids.insert("a") == std::pair{node_id{0}, true});
  CATCH_CHECK(ids.insert("") == std::pair{node_id{1}, true});
  CATCH_CHECK(ids.insert("a") == std::pair{node_id{0}, false});
  const std::string giant(std::size_t{3} << 20, 'x'); // More than a chunk.
  CATCH_CHECK(ids.insert(giant) == std::pair{node_id{2}, true});
  CATCH_CHECK(ids.insert("b") == std::pair{node_id{3}, true});
  CATCH_CHECK(ids.name(2) == giant);
  CATCH_CHECK(ids.find(giant) == 2);
  CATCH_CHECK_FALSE(ids.find("c"));

  std::unordered_map<std::string, node_id> wanted;
  id_map many;
  random_stream draws{mix64(17), 0};
  for (int i = 0; i < 50000; ++i) {
    const auto id = fmt::format("n{}", draws.below(30000));
    const auto [at, fresh] = wanted.emplace(id, std::ssize(wanted));
    CATCH_REQUIRE(many.insert(id) == std::pair{at->second, fresh});
  }
  const auto moved = std::move(many);
  CATCH_CHECK(moved.size() == std::ssize(wanted));
  for (const auto& [id, number] : wanted) {
    CATCH_REQUIRE(moved.find(id) == number);
    CATCH_REQUIRE(moved.name(number) == id);
  }
}

CATCH_TEST_CASE("ids of all lengths are told apart", "[dataset][ids]") {
  // Beside lengths that a size of two bytes cannot say, enough to fill several
  // chunks of memory.
  std::vector<std::string> ids;
  for (std::size_t size = 65533; size <= 65538; ++size)
    for (const auto last : {'x', 'y'})
      ids.push_back(std::string(size, 'a') + last);
  for (std::size_t size = 0; size < 3000; ++size)
    ids.emplace_back(size, 'b');
  ids.push_back(std::string(std::size_t{1} << 20, 'c'));
  id_map map;
  for (std::size_t i = 0; i < ids.size(); ++i)
    CATCH_REQUIRE(map.insert(ids[i]) == std::pair{node_id(i), true});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CATCH_REQUIRE(map.find(ids[i]) == node_id(i));
    CATCH_REQUIRE(map.name(node_id(i)) == ids[i]);
    CATCH_REQUIRE_FALSE(map.find(ids[i] + "z"));
  }
}

CATCH_TEST_CASE("ids take little more than their text", "[dataset][ids]") {
  id_map ids;
  constexpr int count = 200000;
  for (int i = 0; i < count; ++i)
    ids.insert(fmt::format("{:010}", i));
  CATCH_CHECK(ids.bytes() < (10 + 40) * std::uint64_t{count} + (1 << 20));
}

CATCH_TEST_CASE("what does not fit in memory is said", "[dataset][memory]") {
  const memory_room room{std::uint64_t{2} << 30, "the memory cgroup /small"};
  CATCH_CHECK_FALSE(memory_shortage("this", room.bytes, room));
  CATCH_CHECK(memory_shortage("scale 25", room.bytes * 2, room)
              == "scale 25 needs about 4.00 GiB of memory, and the memory "
                 "cgroup /small leaves 2.00 GiB");
}
