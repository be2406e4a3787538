#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/dataset/inspection/inspect.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

/// Counts one kind of damage in one array and keeps the first place of it.
class finding {
public:
  /// @param sentence A sentence about the first place, made only once.
  template <class Sentence>
  void add(Sentence sentence) {
    if (count_++ == 0)
      first_ = sentence();
  }

  bool empty() const { return count_ == 0; }

  /// Appends the sentence, if there is one, and how often it is so.
  void report(const npy_array& where, std::vector<std::string>& out) const;

private:
  std::int64_t count_ = 0;
  std::string first_;
};

using findings = std::vector<std::string>;

/// Features that are no finite numbers.
/// @param row What a row is of: "node" or "edge".
void find_bad_features(const char* row, const npy_array& features,
                       findings& out);

/// Rows of sparse features that do not lie one after the other, have more
/// values than dataset.json says, columns that do not ascend within the type's,
/// or values that are no finite numbers.
void find_bad_sparse_features(const node_type_info& type,
                              const dataset::sparse_arrays& features,
                              findings& out);

/// Counts nodes per class; labels that are no class.
/// @returns per class, and the number of unlabelled nodes.
std::pair<std::vector<std::int64_t>, std::int64_t>
count_labels(const node_type_info& type, const npy_array& labels,
             findings& out);

/// The same of `label_kind::multi_label`: nodes that have each label; rows that
/// are not as they must be.
std::pair<std::vector<std::int64_t>, std::int64_t>
count_label_rows(const node_type_info& type, const npy_array& labels,
                 findings& out);

/// How the values of nodes are spread; rows that are not as
/// `label_kind::regression` says.
/// @returns per column, and the number of nodes of which nothing is known.
std::pair<std::vector<value_summary>, std::int64_t>
summarise_values(const node_type_info& type, const npy_array& labels,
                 findings& out);

/// Seeds that are no nodes, unlabelled, or there twice.
/// @param vouched Whether another array than the labels has the type's count.
void find_bad_seeds(const node_type_info& type,
                    const dataset::label_arrays& arrays, bool vouched,
                    findings& out);

/// An indptr that goes down, or beyond the edges.
/// @returns whether it is sound.
bool find_bad_indptr(const npy_array& indptr, std::int64_t edges,
                     findings& out);

/// Stored degrees that are not the counted ones.
void find_bad_degrees(const npy_array& stored,
                      std::span<const std::int32_t> counted, findings& out);

/// How weights are spread; such as are negative or no finite numbers.
weight_summary summarise_weights(const npy_array& weights, findings& out);

/// Stored sums of weights that are not those of the edges.
/// @param added [as stored] Empty: not known, so that they must only be finite
/// and not negative.
void find_bad_sums(const npy_array& stored, std::span<const float> added,
                   findings& out);

} // namespace graphmill
