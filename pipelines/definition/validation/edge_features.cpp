#include "pipelines/definition/validation/edge_features.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphmill {

bool has_edge_features(const dataset_info& info) {
  return std::ranges::any_of(info.edge_types, [](const edge_type_info& type) {
    return type.feature_width > 0;
  });
}

bool reads_edge_features(const definition& def, const dataset_info& info) {
  return def.model.edge_features == edge_feature_use::use
         && traits_of(def.model.kind).reads_edge_features()
         && has_edge_features(info);
}

bool has_unlike_edge_features(const dataset_info& info) {
  return std::ranges::any_of(info.edge_types, [&info](const auto& type) {
    return type.feature_width != info.edge_types.front().feature_width;
  });
}

bool reads_ages(const definition& def, const dataset_info& info) {
  return std::ranges::any_of(info.edge_types, [&def](const auto& type) {
    return age_columns(def, type) != 0;
  });
}

std::int64_t age_columns(const definition& def, const edge_type_info& type) {
  const auto& model = def.model;
  if (!type.timed || !def.sampler.is_timed()
      || !traits_of(model.kind).reads_edge_features())
    return 0;
  switch (model.edge_ages) {
  case edge_age_use::none:
    return 0;
  case edge_age_use::log:
    return 1;
  case edge_age_use::cosine:
    return model.age_width;
  }
  return 0;
}

bool decodes_edge_features(const definition& def) {
  return !def.task.empty() && def.decoder.edge_features;
}

std::int64_t decoded_edge_width(const definition& def,
                                const dataset_info& info) {
  const auto* task = chosen_task(info);
  if (task == nullptr || !decodes_edge_features(def))
    return 0;
  return info.edge_types[static_cast<std::size_t>(task->edge_types.front())]
    .feature_width;
}

std::optional<std::string> problem_with_edge_features(const definition& def,
                                                      const dataset_info& info,
                                                      bool given) {
  const auto& traits = traits_of(def.model.kind);
  const auto ignored = def.model.edge_features == edge_feature_use::ignore;
  if (!ignored && traits.hears() && has_edge_features(info)) {
    if (!traits.reads_edge_features())
      return fmt::format("edges of {} have features, and {} cannot read them; "
                         "set model.edge_features: ignore, or choose another "
                         "kind",
                         in_quotes(info.name), traits.name);
    if (!traits.typed && has_unlike_edge_features(info))
      return fmt::format("edges of {} have different numbers of features by "
                         "type, and {} takes all types as one; choose a "
                         "relational kind, or set model.edge_features: ignore",
                         in_quotes(info.name), traits.name);
    if (def.trainer.device != "cpu")
      return fmt::format("edges of {} have features, which trainer.device {} "
                         "does not compute with yet; set it to cpu, or set "
                         "model.edge_features: ignore",
                         in_quotes(info.name), in_quotes(def.trainer.device));
  }
  if (!ignored || !given)
    return std::nullopt;
  if (!traits.hears())
    return fmt::format("`model.edge_features` is for kinds that hear "
                       "neighbours, and {} does not; leave it out",
                       traits.name);
  if (!has_edge_features(info))
    return fmt::format("`model.edge_features` is `ignore`, but edges of {} "
                       "have no features; leave it out",
                       in_quotes(info.name));
  return std::nullopt;
}

std::optional<std::string> problem_with_ages(const definition& def,
                                             const dataset_info& info) {
  if (!reads_ages(def, info))
    return std::nullopt;
  if (const auto& traits = traits_of(def.model.kind);
      !traits.typed
      && !std::ranges::all_of(info.edge_types, &edge_type_info::timed))
    return fmt::format("only some edge types of {} have times, and {} takes "
                       "all types as one; choose a relational kind, or leave "
                       "out `model.edge_ages`",
                       in_quotes(info.name), traits.name);
  if (def.trainer.device != "cpu")
    return fmt::format("trainer.device {} does not compute with ages of edges "
                       "yet; set it to cpu, or leave out `model.edge_ages`",
                       in_quotes(def.trainer.device));
  return std::nullopt;
}

std::optional<std::string>
problem_with_decoded_features(const definition& def, const dataset_info& info) {
  if (!def.decoder.edge_features)
    return std::nullopt;
  const auto* task = chosen_task(info);
  if (task == nullptr)
    return "`decoder.edge_features` is for tasks of edges; leave it out";
  if (traits_of(task->kind).negatives)
    return fmt::format("`decoder.edge_features` is for classes, labels and "
                       "numbers of edges: negatives of links, as in task {}, "
                       "have no features; leave it out",
                       in_quotes(task->name));
  if (def.decoder.kind != decoder_kind::mlp
      && def.decoder.kind != decoder_kind::bilinear)
    return "`decoder.edge_features` is for `decoder.kind` mlp and bilinear; "
           "choose one of them";
  const auto width = decoded_edge_width(def, info);
  for (const auto type : task->edge_types)
    if (const auto& about = info.edge_types[static_cast<std::size_t>(type)];
        about.feature_width == 0 || about.feature_width != width)
      return fmt::format("edges of type {} have {} features; the edge types of "
                         "task {} need equally many, and some, for "
                         "`decoder.edge_features`",
                         in_quotes(info.edge_type_name(type)),
                         about.feature_width, in_quotes(task->name));
  return std::nullopt;
}

} // namespace graphmill
