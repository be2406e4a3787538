#include "partition/files/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A list in a list in a list ...
std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

} // namespace

CATCH_TEST_CASE("JSON is taken to a certain depth", "[partition][json]") {
  const auto deepest = value_of(parse_json(nested(json_depth_limit), "x"));
  CATCH_CHECK(deepest.dump() == nested(json_depth_limit));
  for (const auto levels : {json_depth_limit + 1, std::size_t{300'000}}) {
    const auto refused = error_of(parse_json(nested(levels), "x.json"));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message
                == "x.json is broken: its values are nested deeper than 64 "
                   "levels");
  }
  CATCH_CHECK(error_of(parse_ordered_json(nested(300'000), "x")).code
              == ec::invalid_data);
  std::string objects;
  for (int i = 0; i < 100'000; ++i)
    objects += R"({"a":)";
  objects += "1" + std::string(100'000, '}');
  CATCH_CHECK(error_of(parse_json(objects, "x")).code == ec::invalid_data);
}

CATCH_TEST_CASE("brackets that do not nest do not count", "[partition][json]") {
  // In texts, behind escaped quotes, and one after the other.
  const auto brackets = std::string(1000, '[');
  CATCH_CHECK(value_of(parse_json("[\"" + brackets + "\"]", "x")).size() == 1);
  CATCH_CHECK(
    value_of(parse_json(R"(["a\"[\\", ")" + brackets + "\"]", "x")).size()
    == 2);
  std::string flat = "[[]";
  for (int i = 0; i < 1000; ++i)
    flat += ",[{}]";
  CATCH_CHECK(value_of(parse_json(flat + "]", "x")).size() == 1001);
}

CATCH_TEST_CASE("too many values are refused before any is made",
                "[partition][json]") {
  std::string text = "[";
  text.append(json_value_limit, ',');
  text += "]";
  CATCH_CHECK(has(error_of(parse_json(text, "x")).message, "values; at most"));
  // The list, and one for each comma.
  CATCH_CHECK(value_of(parse_json("[1,2,3]", "x", 4)).size() == 3);
  CATCH_CHECK(error_of(parse_json("[1,2,3,4]", "x", 4)).message
              == "x is broken: it has some 5 values; at most 4 are read");
}

CATCH_TEST_CASE("a key that comes again is found where it counts",
                "[partition][json]") {
  CATCH_CHECK(repeated_key(R"({"a":1,"b":{"a":2},"c":[{"a":3}],"a":4,"b":5})")
              == "a");
  CATCH_CHECK(repeated_key(R"({"a":{"b":1,"b":2},"b":[[0],"b",1.5,null,true]})")
              == std::nullopt);
  CATCH_CHECK(repeated_key(R"({"a":1,"\u0061":-2})") == "a");
  CATCH_CHECK(repeated_key("[1, 2]") == std::nullopt);
  CATCH_CHECK(repeated_key_anywhere(R"({"a":[{"b":1},{"b":1}],"b":{"a":2}})")
              == std::nullopt);
  CATCH_CHECK(repeated_key_anywhere(R"([{"a":{"b":1,"c":[{}],"b":2}}])")
              == "b");
}

CATCH_TEST_CASE("broken JSON is an error with its place", "[partition][json]") {
  for (const std::string text :
       {"", "[", "]", "[1", "{\"a\"", "\"", "\"\\", "\"a\\\"", "[1]]", "nul",
        "[\"\n\"]", "\xff", "[1e999]", "{\"a\":1,}"}) {
    CATCH_INFO(text);
    const auto refused = error_of(parse_json(text, "x.json"));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(has(refused.message, "x.json is broken: "));
    CATCH_CHECK_FALSE(has(refused.message, "json.exception"));
  }
  CATCH_CHECK(error_of(parse_json("{\n  x", "x.json")).message
              == "x.json is broken: it is no JSON from line 2, column 3 on");
  CATCH_CHECK(error_of(parse_json("[1e999]", "x.json")).message
              == "x.json is broken: one of its numbers is out of range");
}

CATCH_TEST_CASE("integers are told from other numbers", "[partition][json]") {
  const auto of = [](const char* text) {
    return integer_of(value_of(parse_json(text, "x")));
  };
  CATCH_CHECK(of("-7") == -7);
  CATCH_CHECK(of("9223372036854775807") == INT64_MAX);
  for (const auto* text :
       {"9223372036854775808", "1.0", "1e300", "\"1\"", "null", "[1]", "true"})
    CATCH_CHECK(!of(text));
}

CATCH_TEST_CASE("a file of JSON", "[partition][json]") {
  temp_folder folder;
  const auto file = folder / "x.json";
  CATCH_CHECK(error_of(read_json(file, 100)).code == ec::not_found);
  std::ofstream{file} << R"({"b": 1, "a": 2})";
  CATCH_CHECK(value_of(read_json(file, 100)).size() == 2);
  CATCH_CHECK(error_of(read_json(file, 10)).code == ec::invalid_data);
  const auto ordered = value_of(parse_ordered_json(content_of(file), "x"));
  CATCH_CHECK(ordered.begin().key() == "b");
}
