#include "partition/writing/kept_labels.hpp"

#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/seed_check.hpp"
#include "partition/files/file_io.hpp"

#include <utility>

namespace graphmill {

result<void> kept_labels::take_classes(const node_type_info& type,
                                       std::span<const std::int64_t> given) {
  GRAPHMILL_TRYV(check_labels(type, given));
  labels.assign(given.begin(), given.end());
  labelled = true;
  return ok();
}

result<void> kept_labels::take_rows(const node_type_info& type,
                                    std::vector<std::uint8_t> given) {
  GRAPHMILL_TRYV(check_label_rows(type, given));
  labels = labelled_nodes(type, given);
  rows = std::move(given);
  labelled = true;
  return ok();
}

result<void> kept_labels::write(const std::filesystem::path& folder,
                                const node_type_info& type,
                                std::string_view set, bool need_seeds,
                                std::array<std::int64_t, 3>& counts) const {
  if (type.class_count > 0 && !labelled)
    return fail(ec::invalid_data, "{} has {} classes, but no labels were given",
                type.name, type.class_count);
  GRAPHMILL_TRYV(check_seeds(type, labels, splits, need_seeds));
  if (labelled && type.has_label_rows()) {
    GRAPHMILL_TRYV(write_npy_bytes(
      folder / labels_file(set), traits_of(type.labels).element,
      {type.count, type.class_count}, std::as_bytes(std::span{rows})));
  } else if (labelled) {
    GRAPHMILL_TRYV(write_npy<std::int64_t>(folder / labels_file(set), labels));
  }
  for (auto which : all_splits) {
    const auto i = static_cast<std::size_t>(which);
    counts[i] = std::ssize(splits[i]);
    if (!splits[i].empty()) {
      GRAPHMILL_TRYV(
        write_npy<node_id>(folder / seeds_file(which, set), splits[i]));
    }
  }
  return ok();
}

} // namespace graphmill
