#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/json_text.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/incoming_labels.hpp"
#include "partition/importers/npy/npy_folder.hpp"
#include "partition/importers/npy/npy_source.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// What meta.json says, or a member of it. Node types keep their order.
using npy_meta = nlohmann::ordered_json;

/// A count of meta.json; nothing if it is not there.
result<std::optional<std::int64_t>> count_in_meta(const npy_meta& meta,
                                                  const char* key);

/// The names of classes in meta.json; none if it has no such list.
result<std::vector<std::string>> class_names_in(const npy_meta& meta);

/// The member `outer`.`name` of meta.json, or an empty object.
npy_meta member_of_meta(const npy_meta& meta, const char* outer,
                        const std::string& name);

/// Finds out about classes. Labels with gaps between them make classes that no
/// node has, so they are numbered anew, unless meta.json says that it is meant.
/// @param type Its labels are opened.
/// @param meta What is said of the labels.
/// So they are if a class stands for no label, for it is none then.
result<void> derive_npy_classes(npy_node_source& type, const npy_meta& meta,
                                bool renumber, const no_label_values& none);

/// The classes of a type's nodes, by their numbers in the dataset; -1: none.
result<std::vector<std::int64_t>> classes_of(const npy_node_source& type);

/// Seeds as a folder has them.
struct npy_split {
  std::optional<npy_array> array; ///< None: there is no such split.
  bool mask = false;              ///< A value for each node, and not ids.
};

/// Opens `<prefix><split>_idx.npy` or `_mask.npy`; of a label set,
/// `_idx.<set>.npy` or `_mask.<set>.npy`. Fails if both are there.
result<npy_split> open_npy_split(npy_folder& folder, const std::string& prefix,
                                 split which, std::string_view set);

/// Reads the label sets of a node type: `<prefix>labels.<set>.npy` with splits
/// as above, or splits alone, of the type's own labels, whatever kind they are.
/// @param type With its count, own labels and classes.
/// @param meta What meta.json says of the type; `label_sets`.`<set>` may have
/// `num_classes` and `class_names`.
result<std::vector<incoming_labels>>
read_npy_label_sets(npy_folder& folder, const std::string& prefix,
                    const npy_node_source& type, const npy_meta& meta,
                    const npy_source_options& options);

} // namespace graphmill
