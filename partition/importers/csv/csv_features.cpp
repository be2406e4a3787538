#include "partition/importers/csv/csv_features.hpp"

#include "messages/words/closest.hpp"
#include "partition/files/json_text.hpp"
#include "partition/importers/columns/fields/column_state.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t feature_block_values = std::size_t{1} << 18;

/// What a columns file says about a table; null if it does not name it. Fails
/// if two entries are about the table.
result<const csv_feature_choice*>
choice_for(const csv_table& table, const csv_import_options& options) {
  const csv_feature_choice* found = nullptr;
  for (const auto& choice : options.features) {
    if (!names_table(choice.table, table))
      continue;
    if (found != nullptr)
      return fail(ec::invalid_argument,
                  "the columns file says twice what features {} has, as \"{}\" "
                  "and as \"{}\": make one entry of both",
                  table.file.string(), found->table, choice.table);
    found = &choice;
  }
  return found;
}

/// The scale of `standardise` in a record.
result<column_scale> scale_in(const nlohmann::json& state) {
  GRAPHMILL_TRY(auto means, state_numbers(state, "means"));
  GRAPHMILL_TRY(auto deviations, state_numbers(state, "deviations"));
  if (means.size() != deviations.size())
    return fail(ec::invalid_data, "{} means and {} deviations", means.size(),
                deviations.size());
  return column_scale::restore(std::move(means), std::move(deviations));
}

/// Features as they were made elsewhere.
result<csv_features> features_like(const nlohmann::json& fitted) {
  constexpr auto norms = std::to_array(
    {row_norm::none, row_norm::l1, row_norm::l2, row_norm::standardise});
  csv_features out;
  out.fitted = true;
  const auto part = [&fitted](const char* key) {
    return fitted.is_object() ? fitted.value(key, nlohmann::json{})
                              : nlohmann::json{};
  };
  const auto scaled = part("scaled");
  const auto norm = std::ranges::find_if(norms, [&scaled](row_norm each) {
    return scaled.is_string() && scaled.get<std::string>() == to_string(each);
  });
  if (norm == norms.end())
    return fail(ec::invalid_data, "it does not say how features are scaled");
  out.norm = *norm;
  GRAPHMILL_TRY(out.columns, feature_columns::restore(
                               part("columns"), out.norm != row_norm::none));
  if (out.norm != row_norm::standardise)
    return out;
  GRAPHMILL_TRY(out.scale, scale_in(part("scale")));
  if (std::ssize(out.scale->means()) != out.columns.width())
    return fail(ec::invalid_data, "the scale is of another number of features");
  return out;
}

/// Fails if a request is of a column that tells the answer.
result<void> expect_no_answer(const csv_layout& layout, std::size_t column,
                              const column_request& request) {
  const auto is_of_set = [column](const csv_set_columns& set) {
    return set.label == column || set.split == column;
  };
  const auto is_of_task = [column](const csv_task_columns& task) {
    return task.label == column || task.split == column;
  };
  if (layout.label != column && layout.split != column
      && std::ranges::none_of(layout.tasks, is_of_task)
      && std::ranges::find(layout.masks, std::optional{column})
           == layout.masks.end()
      && std::ranges::none_of(layout.label_sets, is_of_set))
    return ok();
  return fail(ec::invalid_argument,
              "{}: column \"{}\" has labels or splits; as a feature it would "
              "tell the answer",
              request.where, request.column);
}

/// Finds the columns that features were made of elsewhere.
result<void> find_fields_like(const csv_table& table, const csv_layout& layout,
                              const csv_import_options& options,
                              csv_features& features) {
  for (const auto& request : features.columns.requests()) {
    const auto column = find_column(layout, request.column);
    if (!column)
      return fail(ec::invalid_argument,
                  "{} has no column \"{}\", of which {} has features",
                  table.file.string(), request.column, options.like.string());
    auto said = request;
    said.where = like_text(options);
    GRAPHMILL_TRYV(expect_no_answer(layout, *column, said));
    features.fields.push_back(*column);
  }
  std::vector<std::size_t> left;
  for (const auto column : layout.features)
    if (std::ranges::find(features.fields, column) == features.fields.end())
      left.push_back(column);
  if (left.empty())
    return ok();
  return fail(ec::invalid_argument,
              "{}: {} has no features of {}; leave them out with --ignore",
              table.file.string(), options.like.string(),
              columns_text(layout, left));
}

/// Each column by itself, as a number.
std::vector<column_request> plain_requests(const csv_layout& layout,
                                           const csv_import_options& options) {
  auto number_options = options.number_options;
  if (options.decimal_commas)
    number_options["decimal"] = {"comma"};
  std::vector<column_request> out;
  for (const auto column : layout.features)
    out.push_back({.where = {},
                   .column = layout.header && !layout.names[column].empty()
                               ? layout.names[column]
                               : std::to_string(column + 1),
                   .kind = "number",
                   .options = number_options});
  return out;
}

/// Fails if a columns file leaves a column out without a word.
result<void> expect_all_named(const csv_table& table, const csv_layout& layout,
                              const std::vector<std::size_t>& named) {
  std::vector<std::size_t> left;
  for (const auto column : layout.features)
    if (std::ranges::find(named, column) == named.end())
      left.push_back(column);
  if (left.empty())
    return ok();
  return fail(ec::invalid_argument,
              "{}: the columns file does not say what becomes of {}; name "
              "them under `features` or `ignore`",
              table.file.string(), columns_text(layout, left));
}

/// Gives the rows of a table to `visit`: their number, the fields that features
/// are made of, and what rejects the row because of one of them.
template <class Visit>
result<void> for_each_feature_fields(const csv_table& table,
                                     const csv_layout& layout, char separator,
                                     const csv_features& features,
                                     row_errors& errors, Visit visit) {
  GRAPHMILL_TRY(auto rows, csv_rows::open(table, layout, separator, errors));
  std::vector<std::string_view> fields(features.fields.size());
  const field_fault reject = [&](std::size_t i,
                                 const error& wrong) -> result<void> {
    if (wrong.code == ec::invalid_data)
      return rows.reject(features.fields[i], wrong.message);
    return fail(wrong.code, "{}: column {}: {}", table.file.string(),
                column_text(layout, features.fields[i]), wrong.message);
  };
  for (std::size_t row = 0;; ++row) {
    GRAPHMILL_TRY(const auto there, rows.next());
    if (!there)
      return ok();
    for (std::size_t i = 0; i < fields.size(); ++i)
      fields[i] = trim_blanks(rows.fields()[features.fields[i]]);
    GRAPHMILL_TRYV(
      visit(row, std::span<const std::string_view>{fields}, reject));
  }
}

/// Fits the columns, on rows for which `fits` holds.
template <class Fits>
result<void> fit_columns(const csv_table& table, const csv_layout& layout,
                         char separator, csv_features& features,
                         row_errors& errors, Fits fits) {
  auto& columns = features.columns;
  GRAPHMILL_TRYV(for_each_feature_fields(
    table, layout, separator, features, errors,
    [&](std::size_t row, std::span<const std::string_view> fields,
        const field_fault& reject) -> result<void> {
      if (fits(row) && !errors.failed())
        return columns.learn(fields, reject);
      return features.checked ? ok() : columns.check(fields, reject);
    }));
  features.checked = true;
  if (errors.failed())
    return ok();
  if (auto done = columns.finish(); !done)
    return fail(done.error().code, "{}: {}", table.file.string(),
                done.error().message);
  return ok();
}

} // namespace

bool is_csv_node_type(const csv_import_options& options,
                      std::string_view name) {
  const auto ends_there = [name](const csv_table& table) {
    const auto parts = split_edge_type_name(table.type);
    return parts && ((*parts)[0] == name || (*parts)[2] == name);
  };
  return std::ranges::find(options.nodes, name, &csv_table::type)
           != options.nodes.end()
         || std::ranges::any_of(options.edges, ends_there);
}

row_norm csv_norm_of(const csv_table& table,
                     const csv_import_options& options) {
  const auto parts = split_edge_type_name(table.type);
  for (const auto& [name, norm] : options.changes.normalise)
    if (name == table.type
        || (parts && name == (*parts)[1] && !is_csv_node_type(options, name)))
      return norm;
  return parts ? row_norm::none : options.normalise;
}

result<csv_features> choose_csv_features(const csv_table& table,
                                         const csv_layout& layout,
                                         const csv_import_options& options) {
  if (const auto at = options.fitted.find(table.type);
      at != options.fitted.end()) {
    GRAPHMILL_TRY(const auto state, parse_json(at->second, "columns.json"));
    auto like = features_like(state);
    if (!like)
      return fail(ec::invalid_data, "{}: columns.json of {}: {}",
                  options.like.string(), table.type, like.error().message);
    GRAPHMILL_TRYV(find_fields_like(table, layout, options, like.value()));
    return like;
  }
  csv_features out;
  out.norm = csv_norm_of(table, options);
  const auto scaled_later = out.norm != row_norm::none;
  GRAPHMILL_TRY(const auto* chosen, choice_for(table, options));
  if (chosen == nullptr) {
    out.fields = layout.features;
    GRAPHMILL_TRY(
      out.columns,
      feature_columns::make(plain_requests(layout, options), scaled_later));
    return out;
  }
  for (const auto& request : chosen->requests) {
    const auto column = find_column(layout, request.column);
    if (!column) {
      const auto near = closest(request.column, layout.names);
      return fail(ec::invalid_argument, "{}: {} has no column \"{}\"{}",
                  request.where, table.file.string(), request.column,
                  near.empty() ? ""
                               : fmt::format("; did you mean \"{}\"?", near));
    }
    GRAPHMILL_TRYV(expect_no_answer(layout, *column, request));
    out.fields.push_back(*column);
  }
  GRAPHMILL_TRYV(expect_all_named(table, layout, out.fields));
  GRAPHMILL_TRY(out.columns,
                feature_columns::make(chosen->requests, scaled_later));
  return out;
}

result<void> check_csv_features(const csv_table& table,
                                const csv_layout& layout, char separator,
                                csv_features& features, row_errors& errors) {
  if (features.fields.empty() || std::exchange(features.checked, true))
    return ok();
  return for_each_feature_fields(
    table, layout, separator, features, errors,
    [&](std::size_t, std::span<const std::string_view> fields,
        const field_fault& reject) {
      return features.columns.check(fields, reject);
    });
}

result<void> fit_csv_features(const csv_table& table, const csv_layout& layout,
                              char separator, const std::vector<bool>& rows,
                              csv_features& features, row_errors& errors) {
  const auto fits = [&rows](std::size_t row) {
    return rows.empty() || (row < rows.size() && rows[row]);
  };
  auto& columns = features.columns;
  if (columns.needs_fit())
    GRAPHMILL_TRYV(
      fit_columns(table, layout, separator, features, errors, fits));
  if (features.norm != row_norm::standardise || errors.failed())
    return ok();
  features.scale.emplace(columns.width());
  std::vector<double> values(static_cast<std::size_t>(columns.width()));
  GRAPHMILL_TRYV(for_each_feature_fields(
    table, layout, separator, features, errors,
    [&](std::size_t row, std::span<const std::string_view> fields,
        const field_fault& reject) -> result<void> {
      std::ranges::fill(values, 0.0);
      GRAPHMILL_TRYV(columns.write(fields, values, reject));
      if (fits(row) && !errors.failed())
        features.scale->learn(values);
      return ok();
    }));
  features.checked = true;
  return ok();
}

result<void> copy_csv_features(const csv_table& table, const csv_layout& layout,
                               char separator, csv_features& features,
                               node_type_id id, dataset_writer& writer,
                               row_errors& errors) {
  const auto width = static_cast<std::size_t>(features.columns.width());
  if (width == 0)
    return ok();
  features.columns.begin_notes();
  std::vector<double> values;
  std::vector<float> narrow;
  const auto flush = [&]() -> result<void> {
    if (errors.failed()) {
      values.clear();
      return ok();
    }
    if (features.scale)
      features.scale->apply(values);
    normalise_rows(values, features.columns.width(), features.norm);
    GRAPHMILL_TRYV(writer.append_features(id, rounded(values, narrow)));
    values.clear();
    return ok();
  };
  GRAPHMILL_TRYV(for_each_feature_fields(
    table, layout, separator, features, errors,
    [&](std::size_t, std::span<const std::string_view> fields,
        const field_fault& reject) -> result<void> {
      if (values.size() >= feature_block_values)
        GRAPHMILL_TRYV(flush());
      values.resize(values.size() + width);
      return features.columns.write(fields, std::span{values}.last(width),
                                    reject);
    }));
  features.checked = true;
  return flush();
}

} // namespace graphmill
