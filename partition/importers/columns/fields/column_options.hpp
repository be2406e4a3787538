#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A column of a table and the transform that makes features of it.
struct column_request {
  std::string where;  ///< Its place in a columns file, for errors; or empty.
  std::string column; ///< Its name in the header, or its number from 1.
  std::string kind;   ///< A name in `column_kinds`.
  /// The options of the transform. A single value is a list of one.
  std::map<std::string, std::vector<std::string>> options;

  friend bool operator==(const column_request&,
                         const column_request&) = default;
};

/// Reads the options of one request. It collects mistakes instead of stopping
/// at the first. An option that nobody has read is a mistake, too. Refers to
/// the request; not thread-safe.
class column_options {
public:
  explicit column_options(const column_request& from) : from_(from) {}

  /// Whether a columns file says what the column becomes.
  bool is_of_file() const { return !from_.where.empty(); }
  /// One of the values in `all`, else `usual`.
  std::string choice(const std::string& name,
                     std::initializer_list<std::string_view> all,
                     std::string_view usual);
  /// A whole number between two limits.
  std::int64_t count(const std::string& name, std::int64_t usual,
                     std::int64_t least, std::int64_t most);
  /// A finite number, if the option is there.
  std::optional<double> number(const std::string& name);
  bool flag(const std::string& name, bool usual = false);
  /// One text, or nothing.
  std::optional<std::string> text(const std::string& name);
  /// Any number of texts.
  std::vector<std::string> texts(const std::string& name);
  /// What separates items within a field: one to 8 characters, or nothing.
  std::string separator();

  void add_mistake(std::string sentence);

  /// Fails with all mistakes if there are any.
  result<void> finish();

private:
  const std::vector<std::string>* find(const std::string& name);
  const std::string* find_one(const std::string& name);

  const column_request& from_;
  std::set<std::string> known_; ///< Names that were asked for.
  std::vector<std::string> mistakes_;
};

} // namespace graphmill
