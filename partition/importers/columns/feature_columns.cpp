#include "partition/importers/columns/feature_columns.hpp"

#include "messages/base/printable.hpp"
#include "partition/importers/columns/column_kinds.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

error in_column(error reason, const column_request& request) {
  reason.message =
    fmt::format("column \"{}\": {}", printable(request.column), reason.message);
  return reason;
}

result<column_request> request_in(const nlohmann::json& value) {
  const auto is_text_list = [](const nlohmann::json& list) {
    return list.is_array()
           && std::all_of(list.begin(), list.end(),
                          [](const auto& item) { return item.is_string(); });
  };
  const auto text = [&value](const char* key) {
    return value.is_object() && value.contains(key) && value[key].is_string();
  };
  if (!text("column") || !text("as") || !value.contains("options")
      || !value["options"].is_object())
    return fail(ec::invalid_data,
                "a stored column should have \"column\", \"as\" and "
                "\"options\"");
  column_request out{.where = {},
                     .column = value["column"].get<std::string>(),
                     .kind = value["as"].get<std::string>(),
                     .options = {}};
  for (const auto& [name, list] : value["options"].items()) {
    if (!is_text_list(list))
      return fail(ec::invalid_data,
                  "the stored option {} of column {} is no "
                  "list of texts",
                  printable(name), printable(out.column));
    out.options[name] = list.get<std::vector<std::string>>();
  }
  return out;
}

} // namespace

result<feature_columns>
feature_columns::make(std::vector<column_request> requests, bool scaled_later) {
  feature_columns out;
  std::string mistakes;
  for (const auto& request : requests) {
    auto made = make_column_transform(request, scaled_later);
    if (made)
      out.transforms_.push_back(std::move(made).value());
    else
      mistakes += (mistakes.empty() ? "" : "\n") + made.error().message;
  }
  if (!mistakes.empty())
    return fail(ec::invalid_argument, "{}", mistakes);
  out.requests_ = std::move(requests);
  if (!out.needs_fit())
    out.count_features();
  return out;
}

result<feature_columns> feature_columns::restore(const nlohmann::json& state,
                                                 bool scaled_later) {
  if (!state.is_array())
    return fail(ec::invalid_data, "stored columns should be a list");
  std::vector<column_request> requests;
  for (const auto& item : state) {
    GRAPHMILL_TRY(auto request, request_in(item));
    requests.push_back(std::move(request));
  }
  GRAPHMILL_TRY(auto out, make(std::move(requests), scaled_later));
  for (std::size_t i = 0; i < out.transforms_.size(); ++i) {
    auto done =
      out.transforms_[i]->restore(state[i].value("state", nlohmann::json{}));
    if (!done)
      return in_column(std::move(done).error(), out.requests_[i]);
  }
  out.count_features();
  return out;
}

bool feature_columns::needs_fit() const {
  return std::ranges::any_of(
    transforms_, [](const auto& each) { return each->needs_fit(); });
}

/// Gives what went wrong with a field to whoever takes it.
result<void> feature_columns::tell(std::size_t request,
                                   const result<void>& done,
                                   const field_fault& on_fault) const {
  if (done)
    return ok();
  if (on_fault)
    return on_fault(request, done.error());
  return in_column(done.error(), requests_[request]);
}

result<void> feature_columns::check(std::span<const std::string_view> fields,
                                    const field_fault& on_fault) {
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    GRAPHMILL_TRYV(tell(i, transforms_[i]->check(fields[i]), on_fault));
  return ok();
}

result<void> feature_columns::learn(std::span<const std::string_view> fields,
                                    const field_fault& on_fault) {
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    GRAPHMILL_TRYV(tell(i,
                        transforms_[i]->needs_fit()
                          ? transforms_[i]->learn(fields[i])
                          : transforms_[i]->check(fields[i]),
                        on_fault));
  return ok();
}

result<void> feature_columns::finish() {
  for (std::size_t i = 0; i < transforms_.size(); ++i) {
    if (!transforms_[i]->needs_fit())
      continue;
    if (auto done = transforms_[i]->finish(); !done)
      return in_column(std::move(done).error(), requests_[i]);
  }
  count_features();
  return ok();
}

void feature_columns::count_features() {
  widths_.clear();
  width_ = 0;
  for (const auto& each : transforms_) {
    widths_.push_back(each->names().size());
    width_ += static_cast<std::int64_t>(widths_.back());
  }
}

std::vector<std::string> feature_columns::names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    for (const auto& name : transforms_[i]->names())
      out.push_back(requests_[i].column + name);
  return out;
}

result<void> feature_columns::write(std::span<const std::string_view> fields,
                                    std::span<double> out,
                                    const field_fault& on_fault) {
  for (std::size_t i = 0; i < transforms_.size(); ++i) {
    GRAPHMILL_TRYV(tell(
      i, transforms_[i]->write(fields[i], out.first(widths_[i])), on_fault));
    out = out.subspan(widths_[i]);
  }
  return ok();
}

void feature_columns::begin_notes() {
  for (const auto& each : transforms_)
    each->begin_note();
}

std::vector<std::string> feature_columns::notes() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    if (auto note = transforms_[i]->note(); !note.empty())
      out.push_back(
        fmt::format("column \"{}\": {}", printable(requests_[i].column), note));
  return out;
}

nlohmann::json feature_columns::state() const {
  auto out = nlohmann::json::array();
  for (std::size_t i = 0; i < transforms_.size(); ++i)
    out.push_back(nlohmann::json{{"column", requests_[i].column},
                                 {"as", requests_[i].kind},
                                 {"options", requests_[i].options},
                                 {"state", transforms_[i]->state()}});
  return out;
}

} // namespace graphmill
