#include "partition/dataset/meaning/original_names.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace graphmill {

namespace {

constexpr auto names_file = "original_names.json";
/// So many types of names that are as long as a row of a table may be.
constexpr std::size_t largest_names_file = std::size_t{1} << 28;

} // namespace

result<void> write_original_names(const std::filesystem::path& folder,
                                  const original_names& names) {
  if (names.empty())
    return ok();
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return write_text(folder / names_file,
                    nlohmann::json(names).dump(2, ' ', false, replace) + '\n');
}

result<original_names>
read_original_names(const std::filesystem::path& folder) {
  const auto read = read_json(folder / names_file, largest_names_file);
  if (read)
    return original_names_in(read.value(), (folder / names_file).string());
  if (read.error().code == ec::not_found)
    return original_names{};
  return read.error();
}

result<original_names> original_names_in(const nlohmann::json& value,
                                         std::string_view where) {
  original_names out;
  if (!value.is_object())
    return fail(ec::invalid_data,
                "{}: an object with the original name of each type expected",
                where);
  for (const auto& [type, name] : value.items()) {
    if (!name.is_string())
      return fail(ec::invalid_data,
                  "{}: the original name of \"{}\" should be a string", where,
                  printable(type));
    out[type] = name.get<std::string>();
  }
  return out;
}

std::string difference_of_names(const original_names& here,
                                const original_names& there) {
  for (const auto& [type, name] : here)
    if (const auto at = there.find(type);
        at != there.end() && at->second != name)
      return fmt::format("the type {} stands for \"{}\" here and \"{}\" there",
                         printable(type), printable(name),
                         printable(at->second));
  return {};
}

} // namespace graphmill
