#include "partition/importers/columns/hash_column.hpp"

#include "partition/importers/columns/fields/field_items.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace graphmill {

std::unique_ptr<column_transform> hash_column::make(column_options& options,
                                                    bool /*scaled_later*/) {
  constexpr std::int64_t usual = 64;
  constexpr std::int64_t most = 65536;
  auto out = std::make_unique<hash_column>();
  out->separator_ = options.separator();
  out->none_ = options.texts("none");
  out->buckets_ = options.count("buckets", usual, 2, most);
  out->missing_ = options.flag("missing");
  return out;
}

std::vector<std::string> hash_column::names() const {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < buckets_; ++i)
    out.push_back(fmt::format("#{}", i));
  if (missing_)
    out.emplace_back("(missing)");
  return out;
}

result<void> hash_column::write(std::string_view field, std::span<double> out) {
  auto known = false;
  for_each_item(field, separator_, [&](std::string_view item) {
    if (is_missing(item, none_))
      return;
    known = true;
    const auto hash = XXH3_64bits(item.data(), item.size());
    out[hash % static_cast<std::uint64_t>(buckets_)] += 1;
  });
  if (!known && missing_)
    out.back() = 1;
  return ok();
}

} // namespace graphmill
