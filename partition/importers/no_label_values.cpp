#include "partition/importers/no_label_values.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/words/number_text.hpp"

#include <algorithm>

namespace graphmill {

result<no_label_values>
no_label_values::of(const std::vector<std::string>& values) {
  no_label_values out;
  for (const auto& value : values) {
    if (value.empty())
      return fail(ec::invalid_argument,
                  "--no-label: a label is expected; an empty one says that "
                  "none is known anyway");
    if (out.find(value) != nullptr)
      return fail(ec::invalid_argument, "--no-label {} is there twice", value);
    out.values_.push_back(value);
  }
  return out;
}

const std::string* no_label_values::find(std::string_view label) const {
  const auto at = std::ranges::find(values_, label);
  return at == values_.end() ? nullptr : &*at;
}

const std::string* no_label_values::find_number(double label) const {
  const auto at = std::ranges::find_if(values_, [label](const auto& value) {
    return number_from<double>(value) == label;
  });
  return at == values_.end() ? nullptr : &*at;
}

void no_label_values::note_unused(const unlabelled_nodes& found,
                                  const note_callback& on_note) const {
  for (const auto& value : values_)
    if (!found.contains(value))
      tell_note(on_note,
                "--no-label {}: no label is written so; compare it with the "
                "classes below",
                value);
}

void note_unlabelled(const unlabelled_nodes& found, std::string_view where,
                     const note_callback& on_note, std::string_view what) {
  for (const auto& [label, nodes] : found)
    tell_note(on_note, "{}: label {} of {} says that no label is known", where,
              label, pluralized(nodes, what));
}

std::int64_t drop_unlabelled(split_ids& seeds,
                             std::span<const std::int64_t> labels) {
  std::int64_t dropped = 0;
  for (auto& ids : seeds)
    dropped += static_cast<std::int64_t>(std::erase_if(ids, [&](node_id id) {
      // What is no node is left to the writer, which names it.
      return id >= 0 && id < std::ssize(labels)
             && labels[static_cast<std::size_t>(id)] < 0;
    }));
  return dropped;
}

void note_dropped_seeds(std::int64_t count, std::string_view where,
                        const note_callback& on_note) {
  if (count > 0)
    tell_note(on_note, "{}: {} of the splits without a label left out", where,
              pluralized(count, "node"));
}

} // namespace graphmill
