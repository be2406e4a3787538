#include "partition/importers/csv/csv_header.hpp"

#include "partition/importers/csv/csv_names.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace graphmill::test {

namespace {

using rows = std::vector<std::vector<std::string>>;

} // namespace

CATCH_TEST_CASE("headers are told from edges where that is certain",
                "[partition][import][csv]") {
  struct row {
    rows first;
    first_row expected;
  };
  const std::vector<row> table{
    {{{"source", "target"}, {"a", "b"}}, first_row::header},
    {{{"head", "relation", "tail"}, {"a", "r", "b"}}, first_row::header},
    {{{"source", "target"}, {"a", "b"}, {"source", "target"}},
     first_row::header},
    {{{"user_id", "item_id"}, {"u", "i"}}, first_row::header},
    {{{"FromNodeId", "ToNodeId"}, {"1", "2"}}, first_row::header},
    {{{"follower", "followed"}, {"1", "2"}}, first_row::header},
    {{{"a", "b", "weight"}, {"c", "d", "0.5"}}, first_row::header},
    {{{"ann", "bob"}, {"bob", "eve"}}, first_row::edge},
    {{{"#red", "u1"}, {"#blue", "u2"}, {"green", "u1"}}, first_row::edge},
    {{{"1", "2"}, {"3", "4"}}, first_row::edge},
    {{{"0", "1"}, {"1", "2"}}, first_row::edge},
    {{{"0", "1"}}, first_row::edge},
    {{{"user_id", "7"}, {"8", "9"}}, first_row::edge},
    {{{"kim", "lee", "0.5"}, {"ann", "poe", "1"}}, first_row::edge},
    {{{"Madrid", "Valladolid"}, {"Toledo", "Burgos"}}, first_row::unclear},
    {{{"kim", "lee"}, {"ann17", "poe4"}}, first_row::unclear},
    {{{"kim", "lee", ""}, {"ann", "poe", "1"}}, first_row::unclear},
    {{{"kim", "lee", "NA"}, {"ann", "poe", "1"}}, first_row::unclear},
    {{{"kim", "lee"}, {"1", "2"}, {"ann", "3"}}, first_row::unclear},
    // Edges between words that are usual names, too.
    {{{"source", "target"}, {"target", "b"}}, first_row::unclear},
    // The header that pandas makes.
    {{{"0", "1"}, {"ann", "bob"}}, first_row::unclear},
    {{{"alpha", "beta"}}, first_row::unclear},
    {{{"alone"}}, first_row::unclear},
  };
  for (const auto& [first, expected] : table) {
    CATCH_INFO(first[0][0]);
    CATCH_CHECK(guess_first_row(first, {}) == expected);
  }
}

CATCH_TEST_CASE("what is known of nodes and columns tells headers from edges",
                "[partition][import][csv]") {
  const std::set<std::string, std::less<>> ids{"kim", "ann", "poe"};
  header_hints hints;
  hints.is_node = [&ids](std::string_view id) { return ids.contains(id); };
  CATCH_CHECK(guess_first_row({{"payer", "payee"}, {"kim", "ann"}}, hints)
              == first_row::header);
  CATCH_CHECK(guess_first_row({{"kim", "zoe"}, {"poe", "ann"}}, hints)
              == first_row::edge);
  CATCH_CHECK(
    guess_first_row({{"zoe", "eve"}, {"poe", "ann"}, {"x", "y"}}, hints)
    == first_row::unclear);
  CATCH_CHECK(
    guess_first_row({{"payer", "payee"}, {"x", "y"}}, {.chosen = {"Payer"}})
    == first_row::header);
  const header_hints of_types{.source_type = "user",
                              .destination_type = "item"};
  CATCH_CHECK(guess_first_row({{"item", "user"}, {"x", "y"}}, of_types)
              == first_row::header);
  CATCH_CHECK(guess_first_row({{"item", "person"}, {"x", "y"}}, of_types)
              == first_row::unclear);
}

CATCH_TEST_CASE("columns are called like types", "[partition][import][csv]") {
  for (const auto& [column, type] :
       std::vector<std::tuple<std::string, std::string>>{
         {"user", "user"},
         {"User ID", "user"},
         {"userId", "user"},
         {"userid", "user"},
         {"user_id", "users"},
         {"users", "user"},
         {"from_user", "user"},
         {"credit_card_no", "credit-card"},
         {"code_id", "code"}}) {
    CATCH_INFO(column << " " << type);
    CATCH_CHECK(names_type(column, type));
  }
  for (const auto& [column, type] :
       std::vector<std::tuple<std::string, std::string>>{
         {"item_id", "user"},
         {"superuser", "user"},
         {"id", "user"},
         {"", "user"},
         {"user_group", "user"}}) {
    CATCH_INFO(column << " " << type);
    CATCH_CHECK_FALSE(names_type(column, type));
  }
  CATCH_CHECK(is_name_of_ids("user_id"));
  CATCH_CHECK(is_name_of_ids("userId"));
  for (const auto* name : {"Madrid", "id", "USERID", ""}) {
    CATCH_INFO(name);
    CATCH_CHECK_FALSE(is_name_of_ids(name));
  }
}

} // namespace graphmill::test
