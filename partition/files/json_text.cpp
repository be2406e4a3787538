#include "partition/files/json_text.hpp"

#include "partition/files/file_io.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <set>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Where a string ends that begins at `at`: at its closing quote, or behind the
/// text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\')
      ++at;
  return at;
}

/// Counts levels and values before anything is made of them. Brackets are all
/// that it understands: what is no JSON the parser refuses.
result<void> check_extent(std::string_view text, std::string_view where,
                          std::size_t most) {
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
    } else if (c == '[' || c == '{') {
      ++values;
      if (++depth > json_depth_limit)
        return fail(ec::invalid_data,
                    "{} is broken: its values are nested deeper than {} levels",
                    where, json_depth_limit);
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ',') {
      ++values;
    }
  }
  if (values > most)
    return fail(ec::invalid_data,
                "{} is broken: it has some {} values; at most {} are read",
                where, values, most);
  return ok();
}

/// "line 2, column 7", both from 1; of a byte counted from 1, as parse errors
/// have it, which is behind the text when that ends too early.
std::string place_in(std::string_view text, std::size_t byte) {
  const auto before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto begin = before.rfind('\n') + 1; // npos + 1 is 0.
  return fmt::format("line {}, column {}", line, before.size() - begin + 1);
}

/// Without a callback of the parser: with one, it goes through all fields of an
/// object at the end of each value in it (nlohmann/json 3.11).
template <class Json>
result<Json> parse_within_limits(std::string_view text, std::string_view where,
                                 std::size_t most) {
  GRAPHMILL_TRYV(check_extent(text, where, most));
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& broken) {
    return fail(ec::invalid_data, "{} is broken: it is no JSON from {} on",
                where, place_in(text, broken.byte));
  } catch (const nlohmann::json::exception&) {
    return fail(ec::invalid_data,
                "{} is broken: one of its numbers is out of range", where);
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory, "no memory for what stands in {}", where);
  }
}

/// Reads until a key of an object comes again, and makes no values.
class key_reader : public nlohmann::json_sax<nlohmann::json> {
public:
  std::optional<std::string> repeated;

  /// @param levels Down to which objects count; 1: the outermost alone.
  explicit key_reader(std::size_t levels) : levels_(levels) {}

  bool start_object(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    if (names_.size() > levels_ || names_.back().insert(name).second)
      return true;
    repeated = name;
    return false;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception&) override {
    return false;
  }

private:
  bool begin() {
    names_.emplace_back();
    return true;
  }
  bool end() {
    names_.pop_back();
    return true;
  }

  std::size_t levels_;
  std::vector<std::set<std::string>> names_; ///< Of what is open.
};

} // namespace

result<nlohmann::json> parse_json(std::string_view text, std::string_view where,
                                  std::size_t most) {
  return parse_within_limits<nlohmann::json>(text, where, most);
}

std::optional<std::string> repeated_key(std::string_view text) {
  key_reader keys{1};
  nlohmann::json::sax_parse(text, &keys);
  return std::move(keys.repeated);
}

std::optional<std::string> repeated_key_anywhere(std::string_view text) {
  key_reader keys{json_depth_limit};
  nlohmann::json::sax_parse(text, &keys);
  return std::move(keys.repeated);
}

result<nlohmann::ordered_json> parse_ordered_json(std::string_view text,
                                                  std::string_view where) {
  return parse_within_limits<nlohmann::ordered_json>(text, where,
                                                     json_value_limit);
}

std::optional<std::int64_t> integer_of(const nlohmann::json& value) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer()
      || (value.is_number_unsigned() && value.get<std::uint64_t>() > most))
    return std::nullopt;
  return value.get<std::int64_t>();
}

result<nlohmann::json> read_json(const std::filesystem::path& path,
                                 std::size_t limit) {
  GRAPHMILL_TRY(const auto text, read_text(path, limit));
  return parse_json(text, path.string());
}

} // namespace graphmill
