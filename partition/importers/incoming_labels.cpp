#include "partition/importers/incoming_labels.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/seed_check.hpp"
#include "partition/importers/no_label_values.hpp"

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

std::string labels_text(label_kind kind, std::int64_t class_count) {
  const auto& labels = traits_of(kind);
  const auto many = pluralized(class_count, labels.unit, labels.units);
  return labels.rows ? fmt::format("{}{} for each node", labels.choice, many)
                     : many;
}

void declare_label_sets(node_type_info& type,
                        std::span<const incoming_labels> sets) {
  for (const auto& set : sets)
    type.label_sets.push_back({.name = set.name,
                               .class_count = set.class_count,
                               .class_names = set.class_names,
                               .labels = set.kind});
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
    auto shown = with_labels_of(type, type.label_sets[i]);
    shown.name += fmt::format(" (label set {})", set.name);
    const auto labelled =
      shown.has_label_rows() ? labelled_nodes(shown, set.rows) : set.labels;
    auto splits = set.splits.value_or(split_ids{});
    const auto place = fmt::format("label set {} of {}", set.name, type.name);
    note_unlabelled(set.unlabelled, place, on_note);
    if (set.drops_unlabelled)
      note_dropped_seeds(drop_unlabelled(splits, labelled), place, on_note);
    if (set.splits) {
      tell_note(on_note, "label set {} of {}: {}, with its own split", set.name,
                type.name, labels_text(set.kind, set.class_count));
    } else if (request) {
      GRAPHMILL_TRYV(check_split(*request, shown, labelled, times));
      splits = split_nodes(*request, labelled, times);
      tell_note(on_note, "label set {} of {}: {}, split by --split", set.name,
                type.name, labels_text(set.kind, set.class_count));
    } else {
      splits = labelled_seeds(own, labelled);
      tell_note(on_note,
                "label set {} of {}: {}, and no split of its own: it "
                "takes over that of the type, {} of {} seeds, which it has "
                "labels of",
                set.name, type.name, labels_text(set.kind, set.class_count),
                seeds_in(splits), seeds_in(own));
    }
    GRAPHMILL_TRYV(
      shown.has_label_rows()
        ? writer.set_label_set_rows(id, i, set.rows, std::move(splits))
        : writer.set_label_set(id, i, set.labels, std::move(splits)));
  }
  return ok();
}

} // namespace graphmill
