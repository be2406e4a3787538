#include "partition/dataset/meaning/feature_meaning.hpp"

#include "messages/base/printable.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

constexpr auto meaning_file = "features.json";
constexpr std::size_t largest_meaning = std::size_t{1} << 26;

nlohmann::json meaning_json(const feature_meaning& of) {
  nlohmann::json out{{"columns", of.columns}, {"scaled", of.scaled}};
  if (!of.fitted.empty())
    out["fitted"] = of.fitted;
  if (!of.scale.empty())
    out["scale"] = of.scale;
  return out;
}

result<feature_meaning> meaning_in(const nlohmann::json& value,
                                   std::string_view where) {
  const auto is_text = [](const nlohmann::json& item) {
    return item.is_string();
  };
  const auto columns = value.is_object()
                         ? value.value("columns", nlohmann::json{})
                         : nlohmann::json{};
  if (!columns.is_array()
      || !std::all_of(columns.begin(), columns.end(), is_text)
      || !is_text(value.value("scaled", nlohmann::json{})))
    return fail(ec::invalid_data,
                "{} does not say what features are: \"columns\" should be a "
                "list of names, and \"scaled\" a word",
                where);
  const auto text_of = [&value, &is_text](const char* key) {
    const auto text = value.value(key, nlohmann::json{});
    return is_text(text) ? text.get<std::string>() : std::string{};
  };
  return feature_meaning{columns.get<std::vector<std::string>>(),
                         text_of("scaled"), text_of("fitted"),
                         text_of("scale")};
}

/// Where features of one type differ.
std::string difference_of(const feature_meaning& here,
                          const feature_meaning& there) {
  if (here.scaled != there.scaled)
    return fmt::format("are scaled by `--normalise {}` here and `{}` there",
                       printable(here.scaled), printable(there.scaled));
  if (here.fitted != there.fitted && !here.fitted.empty()
      && !there.fitted.empty())
    return "were fitted to other numbers and categories here than there, so "
           "that the same value means something else; import csv --like "
           "DATASET takes those of another dataset";
  if (here.columns.empty() || there.columns.empty())
    return {};
  if (here.columns.size() != there.columns.size())
    return fmt::format("have {} columns here and {} there", here.columns.size(),
                       there.columns.size());
  const auto [ours, theirs] =
    std::ranges::mismatch(here.columns, there.columns);
  return ours == here.columns.end()
           ? std::string{}
           : fmt::format("have \"{}\" here as column {}, and \"{}\" there",
                         printable(*ours), ours - here.columns.begin() + 1,
                         printable(*theirs));
}

} // namespace

result<void> write_feature_meaning(const fs::path& folder,
                                   const feature_meaning& of) {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return write_text(folder / meaning_file,
                    meaning_json(of).dump(-1, ' ', false, replace) + '\n');
}

result<void> write_feature_meanings(const fs::path& parts,
                                    const feature_meanings& all) {
  if (all.empty())
    return ok();
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return write_text(parts / meaning_file,
                    to_json(all).dump(-1, ' ', false, replace) + '\n');
}

result<feature_meanings> read_feature_meanings(const fs::path& dataset,
                                               const dataset_info& info) {
  const auto all = read_json(dataset / meaning_file, largest_meaning);
  if (all)
    return feature_meanings_in(all.value(), (dataset / meaning_file).string());
  if (all.error().code != ec::not_found)
    return all.error();
  feature_meanings out;
  const auto read_one = [&out](const fs::path& folder,
                               const std::string& type) -> result<void> {
    const auto file = folder / meaning_file;
    const auto read = read_json(file, largest_meaning);
    if (!read && read.error().code == ec::not_found)
      return ok();
    if (!read)
      return read.error();
    GRAPHMILL_TRY(out[type], meaning_in(read.value(), file.string()));
    return ok();
  };
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t)
    GRAPHMILL_TRYV(read_one(node_folder(dataset, info, t),
                            info.node_types[static_cast<std::size_t>(t)].name));
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e)
    GRAPHMILL_TRYV(
      read_one(edge_folder(dataset, info, e), info.edge_type_name(e)));
  return out;
}

nlohmann::json to_json(const feature_meanings& all) {
  auto out = nlohmann::json::object();
  for (const auto& [type, of] : all)
    out[type] = meaning_json(of);
  return out;
}

result<feature_meanings> feature_meanings_in(const nlohmann::json& value,
                                             std::string_view where) {
  feature_meanings out;
  if (!value.is_object())
    return fail(ec::invalid_data, "{}: \"features\" should be an object",
                where);
  for (const auto& [type, of] : value.items()) {
    GRAPHMILL_TRY(out[type], meaning_in(of, where));
  }
  return out;
}

std::string difference(const feature_meanings& here,
                       const feature_meanings& there) {
  for (const auto& [type, of] : here)
    if (const auto at = there.find(type); at != there.end())
      if (const auto text = difference_of(of, at->second); !text.empty())
        return fmt::format("features of {} {}", printable(type), text);
  return {};
}

} // namespace graphmill
