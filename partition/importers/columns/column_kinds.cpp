#include "partition/importers/columns/column_kinds.hpp"

#include "partition/importers/columns/boolean_column.hpp"
#include "partition/importers/columns/bucket_column.hpp"
#include "partition/importers/columns/category_column.hpp"
#include "partition/importers/columns/date_column.hpp"
#include "partition/importers/columns/hash_column.hpp"
#include "partition/importers/columns/number_column.hpp"
#include "partition/importers/columns/text_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace graphmill {

namespace {

/// A kind of transform: what `as` says in a columns file.
struct column_kind {
  std::string_view name;
  std::unique_ptr<column_transform> (*make)(column_options& options,
                                            bool scaled_later);
};

/// All kinds. A new one needs a class and a row here.
constexpr auto column_kinds = std::to_array<column_kind>({
  {"number", &number_column::make},
  {"buckets", &bucket_column::make},
  {"boolean", &boolean_column::make},
  {"category", &category_column::make},
  {"hash", &hash_column::make},
  {"date", &date_column::make},
  {"text", &text_column::make},
});

} // namespace

result<std::unique_ptr<column_transform>>
make_column_transform(const column_request& request, bool scaled_later) {
  const auto* kind =
    std::ranges::find(column_kinds, request.kind, &column_kind::name);
  if (kind == column_kinds.end()) {
    std::vector<std::string> names;
    for (const auto& each : column_kinds)
      names.emplace_back(each.name);
    return fail(ec::invalid_argument,
                "{}{}column \"{}\" is \"{}\"; one of {} expected",
                request.where, request.where.empty() ? "" : ": ",
                request.column, request.kind, fmt::join(names, ", "));
  }
  column_options options{request};
  auto made = kind->make(options, scaled_later);
  GRAPHMILL_TRYV(options.finish());
  return made;
}

} // namespace graphmill
