#include "partition/importers/incoming_labels.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace graphmill {

namespace {

/// The seeds that a set has labels of.
split_ids labelled_seeds(const split_ids& seeds,
                         std::span<const std::int64_t> labels) {
  split_ids out;
  for (std::size_t s = 0; s < out.size(); ++s)
    for (auto id : seeds[s])
      // What is no node is left to the writer, which names it.
      if (id < 0 || id >= std::ssize(labels)
          || labels[static_cast<std::size_t>(id)] >= 0)
        out[s].push_back(id);
  return out;
}

std::size_t seeds_in(const split_ids& seeds) {
  return seeds[0].size() + seeds[1].size() + seeds[2].size();
}

} // namespace

void declare_label_sets(node_type_info& type,
                        std::span<const incoming_labels> sets) {
  for (const auto& set : sets)
    type.label_sets.push_back({.name = set.name,
                               .class_count = set.class_count,
                               .class_names = set.class_names});
}

result<void> write_label_sets(std::span<const incoming_labels> sets,
                              const std::optional<split_request>& request,
                              const node_type_info& type, node_type_id id,
                              const split_ids& own,
                              std::span<const double> times,
                              dataset_writer& writer,
                              const note_callback& on_note) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto& set = sets[i];
    auto splits = set.splits.value_or(split_ids{});
    if (set.splits) {
      tell_note(on_note, "label set {} of {}: {} classes, with its own split",
                set.name, type.name, set.class_count);
    } else if (request) {
      GRAPHMILL_TRYV(check_split(*request, type, set.labels, times));
      splits = split_nodes(*request, set.labels, times);
      tell_note(on_note, "label set {} of {}: {} classes, split by --split",
                set.name, type.name, set.class_count);
    } else {
      splits = labelled_seeds(own, set.labels);
      tell_note(on_note,
                "label set {} of {}: {} classes, and no split of its own: it "
                "takes over that of the type, {} of {} seeds, which it has "
                "labels of",
                set.name, type.name, set.class_count, seeds_in(splits),
                seeds_in(own));
    }
    GRAPHMILL_TRYV(writer.set_label_set(id, i, set.labels, std::move(splits)));
  }
  return ok();
}

} // namespace graphmill
