#include "partition/importers/csv/csv_edge_features.hpp"

#include "messages/words/number_text.hpp"

namespace graphmill {

void csv_edge_features::take_fields(const csv_rows& rows) {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    fields_[i] = trim_blanks(rows.fields()[features_.fields[i]]);
}

result<void> csv_edge_features::reject(csv_rows& rows, std::size_t field,
                                       const error& wrong) {
  if (wrong.code == ec::invalid_data)
    return rows.reject(features_.fields[field], wrong.message);
  return fail(wrong.code, "{}: column {}: {}", table_.file.string(),
              column_text(layout_, features_.fields[field]), wrong.message);
}

result<std::span<const float>> csv_edge_features::read(csv_rows& rows) {
  auto& columns = features_.columns;
  if (columns.width() == 0)
    return std::span<const float>{};
  take_fields(rows);
  auto sound = true;
  values_.assign(static_cast<std::size_t>(columns.width()), 0.0);
  GRAPHMILL_TRYV(
    columns.write(fields_, values_,
                  [&](std::size_t field, const error& wrong) -> result<void> {
                    sound = false;
                    return reject(rows, field, wrong);
                  }));
  if (!sound)
    return std::span<const float>{};
  if (features_.scale)
    features_.scale->apply(values_);
  normalise_rows(values_, columns.width(), features_.norm);
  return rounded(values_, narrow_);
}

result<void> csv_edge_features::check(csv_rows& rows) {
  if (fields_.empty() || features_.checked)
    return ok();
  take_fields(rows);
  return features_.columns.check(fields_,
                                 [&](std::size_t field, const error& wrong) {
                                   return reject(rows, field, wrong);
                                 });
}

} // namespace graphmill
