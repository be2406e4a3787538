#include "pipelines/results/learnt_from.hpp"

#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace graphmill {

namespace {

constexpr std::size_t largest_run_file = std::size_t{1} << 26;

/// What is said of the labels beside their kind.
result<void> read_classes(const nlohmann::json& about, std::string_view where,
                          label_meaning& labels) {
  const auto type = about.value("target", nlohmann::json{});
  const auto count = integer_of(about.value("class_count", nlohmann::json{}));
  const auto names = about.value("class_names", nlohmann::json{});
  const auto sound =
    type.is_string() && count && *count >= 0 && names.is_array()
    && (names.empty() || std::ssize(names) == *count)
    && std::all_of(names.begin(), names.end(),
                   [](const auto& name) { return name.is_string(); });
  if (!sound)
    return fail(ec::invalid_data,
                "{} does not say what the labels of the run are: \"target\" "
                "should be a node type, \"class_count\" how many classes, "
                "labels or numbers there are, and \"class_names\" a list of as "
                "many names, or empty",
                where);
  labels.type = type.get<std::string>();
  labels.count = *count;
  labels.names = names.get<std::vector<std::string>>();
  return ok();
}

} // namespace

nlohmann::json to_json(const learnt_from& of) {
  return {{"dataset_digest", of.dataset_digest},
          {"labels", to_string(of.labels.kind)},
          {"target", of.labels.type},
          {"class_count", of.labels.count},
          {"class_names", of.labels.names},
          {"features", to_json(of.features)},
          {"original_names", of.names}};
}

result<learnt_from> learnt_in(const nlohmann::json& about,
                              std::string_view where) {
  learnt_from out;
  if (about.contains("dataset_digest") && about["dataset_digest"].is_string())
    out.dataset_digest = about["dataset_digest"].get<std::string>();
  if (about.contains("labels")) {
    const auto& name = about["labels"];
    const auto kind =
      std::find_if(all_label_kinds.begin(), all_label_kinds.end(),
                   [&name](const label_traits& of) { return name == of.name; });
    if (kind == all_label_kinds.end())
      return fail(ec::invalid_data,
                  "{} does not say what the labels of the run are: \"labels\" "
                  "should be \"{}\", \"{}\", \"{}\" or \"{}\"",
                  where, all_label_kinds[0].name, all_label_kinds[1].name,
                  all_label_kinds[2].name, all_label_kinds[3].name);
    out.labels.kind = kind->kind;
  }
  if (about.contains("class_count")) {
    GRAPHMILL_TRYV(read_classes(about, where, out.labels));
  }
  if (about.contains("features")) {
    GRAPHMILL_TRY(out.features, feature_meanings_in(about["features"], where));
  }
  if (about.contains("original_names")) {
    GRAPHMILL_TRY(out.names, original_names_in(about["original_names"], where));
  }
  return out;
}

result<std::optional<learnt_from>>
learnt_beside(const std::filesystem::path& weights) {
  const auto folder = weights.parent_path();
  for (const auto& place : {folder, folder / ".." / ".."}) {
    const auto file = place / "run.json";
    const auto read = read_json(file, largest_run_file);
    if (!read && read.error().code == ec::not_found)
      continue;
    if (!read)
      return read.error();
    if (!read.value().is_object())
      return fail(ec::invalid_data, "{} is damaged", file.string());
    GRAPHMILL_TRY(auto learnt, learnt_in(read.value(), file.string()));
    if (!learnt.dataset_digest.empty())
      return std::optional{std::move(learnt)};
  }
  return std::optional<learnt_from>{};
}

result<void> expect_same_relations(const original_names& here,
                                   const learnt_from& from,
                                   std::string_view told) {
  if (const auto differs = difference_of_names(here, from.names);
      !differs.empty())
    return fail(ec::invalid_data,
                "{}, and {}: weights of one would be used for the other. Name "
                "the relations as the run's dataset does",
                told, differs);
  return ok();
}

} // namespace graphmill
