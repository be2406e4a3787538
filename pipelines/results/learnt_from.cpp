#include "pipelines/results/learnt_from.hpp"

#include "partition/files/json_text.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace graphmill {

namespace {

constexpr std::size_t largest_run_file = std::size_t{1} << 26;

/// Ticks per second, of times that count steps and of times in seconds.
constexpr std::int64_t ticks_of_steps = 1;
constexpr std::int64_t ticks_of_seconds = 1'000'000;

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

/// Fails if times there have another unit than those of the run's dataset.
/// @param field Of the definition, which counts in that unit.
result<void> expect_same_unit(const dataset_info& info, const learnt_from& from,
                              std::string_view told, std::string_view field) {
  // Without times, the definition is refused.
  if (!info.has_times() || from.ticks_per_second == info.ticks_per_second)
    return ok();
  if (from.ticks_per_second == 0)
    return fail(ec::invalid_data,
                "{}. The run.json of that run does not say whether `{}` counts "
                "seconds or steps: add \"ticks_per_second\" to it, 1 for steps "
                "or {} for seconds",
                told, field, ticks_of_seconds);
  const auto counts = [](std::int64_t ticks) {
    return ticks == ticks_of_steps ? "steps" : "seconds";
  };
  return fail(ec::invalid_data,
              "{}, and `{}` counts {} here and {} there: import it with times "
              "of the same unit (--time-unit)",
              told, field, counts(info.ticks_per_second),
              counts(from.ticks_per_second));
}

} // namespace

nlohmann::json to_json(const learnt_from& of) {
  return {{"dataset_digest", of.dataset_digest},
          {"labels", to_string(of.labels.kind)},
          {"target", of.labels.type},
          {"class_count", of.labels.count},
          {"class_names", of.labels.names},
          {"features", to_json(of.features)},
          {"original_names", of.names},
          {"ticks_per_second", of.ticks_per_second}};
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
  if (about.contains("ticks_per_second")) {
    const auto ticks = integer_of(about["ticks_per_second"]);
    if (ticks != 0 && ticks != ticks_of_steps && ticks != ticks_of_seconds)
      return fail(
        ec::invalid_data,
        "{} does not say what the times of the run's dataset count: "
        "\"ticks_per_second\" should be {} (steps), {} (seconds) or 0 "
        "(no times)",
        where, ticks_of_steps, ticks_of_seconds);
    out.ticks_per_second = *ticks;
  }
  return out;
}

result<learnt_from> learnt_on(const definition& def, const dataset_info& info,
                              const std::filesystem::path& data) {
  learnt_from out{.dataset_digest = info.digest};
  GRAPHMILL_TRY(out.labels, meaning_of_target(info, def));
  GRAPHMILL_TRY(out.features, read_feature_meanings(data, info));
  GRAPHMILL_TRY(out.names, read_original_names(data));
  if (info.has_times())
    out.ticks_per_second = info.ticks_per_second;
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

result<feature_meanings> features_read(const definition& def,
                                       const dataset_info& info,
                                       const std::filesystem::path& data) {
  GRAPHMILL_TRY(auto out, read_feature_meanings(data, info));
  if (!reads_edge_features(def, info) && !decodes_edge_features(def))
    for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e)
      out.erase(info.edge_type_name(e));
  return out;
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

result<void> expect_same_inputs(const definition& def, const dataset_info& info,
                                const std::filesystem::path& data,
                                const learnt_from& from,
                                std::string_view told) {
  GRAPHMILL_TRY(const auto features, features_read(def, info, data));
  if (const auto differs = difference(features, from.features);
      !differs.empty())
    return fail(ec::invalid_data,
                "{}, and {}: import it with the same columns in the same "
                "order, scaled in the same way",
                told, differs);
  if (def.model.edge_ages != edge_age_use::none)
    GRAPHMILL_TRYV(expect_same_unit(info, from, told, "model.age_unit"));
  GRAPHMILL_TRY(const auto names, read_original_names(data));
  return expect_same_relations(names, from, told);
}

result<void> expect_same_window(const definition& def, const dataset_info& info,
                                const learnt_from& from,
                                std::string_view told) {
  return def.sampler.window == 0
           ? ok()
           : expect_same_unit(info, from, told, "sampler.window");
}

result<void> expect_same_kind(const label_meaning& here,
                              const learnt_from& from, std::string_view told) {
  if (here.kind == from.labels.kind)
    return ok();
  return fail(
    ec::invalid_data,
    "{}, and its labels are {}, where the run has learnt {}: the output of "
    "the model would be misread. Give a dataset with labels of the same kind",
    told, traits_of(here.kind).phrase, traits_of(from.labels.kind).phrase);
}

result<void> expect_same_labels(const label_meaning& here,
                                const learnt_from& from, std::string_view told,
                                std::string_view remedy) {
  GRAPHMILL_TRYV(expect_same_kind(here, from, told));
  if (from.labels.count == 0) // A run that is older than what is said of that.
    return ok();
  if (const auto differs = difference(here, from.labels); !differs.empty())
    return fail(ec::invalid_data,
                "{}, and its labels are not those that the run has learnt: {}. "
                "{}",
                told, differs, remedy);
  return ok();
}

result<void> check_first_weights(const definition& def,
                                 const dataset_info& info,
                                 const std::filesystem::path& data,
                                 const learnt_from& from,
                                 std::string_view told) {
  if (info.digest == from.dataset_digest)
    return ok();
  GRAPHMILL_TRYV(expect_same_inputs(def, info, data, from, told));
  GRAPHMILL_TRY(const auto labels, meaning_of_target(info, def));
  return expect_same_labels(labels, from, told,
                            "Import it with the classes of the run's dataset, "
                            "in the same order (import csv --like)");
}

} // namespace graphmill
