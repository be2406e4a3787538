#include "partition/writing/kept_edge_features.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/half.hpp"
#include "partition/writing/feature_writer.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace graphmill {

namespace {

constexpr const char* waiting_rows_file = "features.waiting.npy";
constexpr std::size_t ordered_block_bytes = std::size_t{1} << 20;

/// Which given edge lies at each place of the lists.
result<std::vector<std::int64_t>> edges_by_place(std::int64_t edges,
                                                 const placed_edges& placed,
                                                 const std::string& name) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(edges), -1);
  for (const auto* places : {&placed.places, &placed.opposites})
    for (std::size_t i = 0; i < places->size(); ++i)
      if ((*places)[i] >= 0)
        out[static_cast<std::size_t>((*places)[i])] =
          static_cast<std::int64_t>(i);
  if (std::ranges::find(out, -1) != out.end())
    return fail(ec::internal, "an edge of {} was not found again", name);
  return out;
}

} // namespace

result<kept_edge_features>
kept_edge_features::create(const std::filesystem::path& folder,
                           const dataset_info& info, edge_type_id type) {
  const auto& about = info.edge_types[static_cast<std::size_t>(type)];
  GRAPHMILL_TRY(auto out,
                npy_writer::create(folder / waiting_rows_file,
                                   about.feature_type, {about.feature_width}));
  kept_edge_features kept{std::move(out), folder};
  kept.name_ = info.edge_type_name(type);
  kept.width_ = about.feature_width;
  kept.type_ = about.feature_type;
  return kept;
}

result<void> kept_edge_features::append(std::span<const float> values) {
  if (const auto bad = find_wrong_feature(values, type_)) {
    const auto at = given_ + bad->place;
    return fail(ec::invalid_data,
                "features of {}: edge {}, column {} is {}, which {}", name_,
                at / width_, at % width_, bad->value, bad->why);
  }
  given_ += std::ssize(values);
  if (type_ != dtype::float16)
    return waiting_.append_bytes(std::as_bytes(values));
  halves_.resize(values.size());
  std::ranges::transform(values, halves_.begin(), to_half);
  return waiting_.append_bytes(std::as_bytes(std::span{halves_}));
}

result<void> kept_edge_features::write(std::int64_t edges,
                                       const placed_edges& placed) {
  if (given_ != std::ssize(placed.places) * width_)
    return fail(ec::invalid_data,
                "features of {}: {} values given; {} edges of {} columns have "
                "{}",
                name_, given_, placed.places.size(), width_,
                std::ssize(placed.places) * width_);
  GRAPHMILL_TRYV(waiting_.finish());
  GRAPHMILL_TRY(const auto order, edges_by_place(edges, placed, name_));
  GRAPHMILL_TRY(auto out,
                npy_writer::create(folder_ / features_file, type_, {width_}));
  const auto row_bytes = static_cast<std::size_t>(width_) * size_of(type_);
  {
    GRAPHMILL_TRY(const auto rows,
                  npy_array::open(folder_ / waiting_rows_file));
    std::vector<std::byte> block;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto* row =
        rows.data() + static_cast<std::size_t>(order[i]) * row_bytes;
      block.insert(block.end(), row, row + row_bytes);
      if (block.size() < ordered_block_bytes && i + 1 < order.size())
        continue;
      GRAPHMILL_TRYV(out.append_bytes(block));
      block.clear();
    }
    if (auto fault = mapped_file::first_fault())
      return std::move(*fault);
  }
  GRAPHMILL_TRYV(out.finish());
  std::error_code failed;
  std::filesystem::remove(folder_ / waiting_rows_file, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot remove {}",
                      (folder_ / waiting_rows_file).string());
  return ok();
}

} // namespace graphmill
