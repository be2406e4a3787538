#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// What a figure counts. Writers choose digits and prefixes by it.
enum class figure_unit {
  count,
  flag, ///< 1: yes, 0: no.
  processors,
  bytes,
  bytes_per_second,
  per_second,
  seconds,
  latency,    ///< Seconds, of which there are few.
  since_1970, ///< Seconds.
  ratio,      ///< From 0 to 1.
  loss,       ///< Seldom near 0, where its axis need not begin.
  number,
};

/// The least room of tables of text that have a figure's column.
enum class column_room {
  small,  ///< All have it.
  screen, ///< Of 80 columns.
  wide,   ///< Screens of more.
  list,   ///< No table: lists of all that is known.
};

/// Nothing where there is no number.
using figure_value = std::optional<double>;

/// A number that is known of each T: a row of the tables in figure_tables.hpp.
template <class T>
struct figure {
  /// For Prometheus; empty: there is none. A counter ends with "_total".
  std::string_view metric;
  figure_unit unit;
  std::string_view help; ///< A sentence, without line breaks and backslashes.
  /// Null: daemons report it by the name of its field.
  figure_value (*get)(const T&);
  std::string_view field{};  ///< In JSON and in the history of the last hour.
  std::string_view column{}; ///< In tables of text, without its unit.
  std::string_view title{};  ///< Of its curves on the web page.
  column_room room = column_room::wide;
  std::string_view label{}; ///< Of a metric that has several figures.

  figure_value value(const T& of) const {
    if (get != nullptr)
      return get(of);
    if constexpr (requires { of.further; })
      if (const auto known = of.further.find(std::string{field});
          known != of.further.end())
        return known->second;
    return std::nullopt;
  }
};

/// The number of rows with a field.
template <std::size_t Rows, class T>
consteval std::size_t fields_in(const figure<T> (&table)[Rows]) {
  return std::size_t(std::ranges::count_if(
    table, [](const auto& row) { return !row.field.empty(); }));
}

/// Calls `then` with each row that has a field, and its place among them.
template <std::size_t Rows, class T>
void for_each_field(const figure<T> (&table)[Rows], auto then) {
  std::size_t at = 0;
  for (const auto& row : table)
    if (!row.field.empty())
      then(row, at++);
}

// -- getters

namespace figures {

template <class Member>
struct owner_of_member;
template <class Owner, class Value>
struct owner_of_member<Value Owner::*> {
  using type = Owner;
};
template <auto Member>
using owner_of = typename owner_of_member<decltype(Member)>::type;

template <auto First, auto... Rest>
const auto& member_of(const owner_of<First>& of) {
  if constexpr (sizeof...(Rest) == 0)
    return of.*First;
  else
    return member_of<Rest...>(of.*First);
}

/// The value of a member, or of a member of that: of a list, its size.
template <auto... Path, class T>
figure_value in(const T& of) {
  const auto& found = member_of<Path...>(of);
  if constexpr (requires { found.size(); })
    return double(found.size());
  else
    return double(found);
}

/// Nothing if it is negative.
template <auto Member, class T>
figure_value if_known(const T& of) {
  return of.*Member < 0 ? figure_value{} : double(of.*Member);
}

/// The value of a member, or nothing if a condition is 0.
template <auto Condition, auto Member = Condition, class T>
figure_value if_any(const T& of) {
  return of.*Condition == 0 ? figure_value{} : double(of.*Member);
}

} // namespace figures

} // namespace graphmill
