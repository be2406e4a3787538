#pragma once

#include "actors/commands/engine/table_ids.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/task/task_traits.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// A field of a CSV, in quotes where it must be (RFC 4180).
std::string csv_text(std::string_view text);

/// What `predict` has found out, in the memory of others. Of a list of nodes,
/// `rows` says which row of the matrices is whose.
struct prediction {
  std::vector<node_id> ids;       ///< The list; empty: all nodes, in order.
  std::vector<std::int64_t> rows; ///< [ids] Of classes, logits and the first
                                  ///< embeddings.
  std::vector<std::int64_t> classes;
  std::vector<std::string> class_names; ///< Empty, or one per class.
  /// Of several labels a node has those with a logit above 0, and values are
  /// logits. With either there are logits, and `classes` say nothing but how
  /// many nodes there are.
  task_traits task = task_of(outcome_form::classes);
  const_matrix logits; ///< [., classes], if asked for.
  /// The probability from which a node has one of several labels. None: above
  /// 0.5.
  std::optional<threshold_choice> threshold = {};
  /// In the order of `prediction_request::embeddings`; those of other types
  /// than the target have a row for every node.
  std::vector<const_matrix> embeddings;
  /// Of the target, and of the types whose embeddings these are: columns of a
  /// CSV. Null, or none at all: there are no such ids.
  std::shared_ptr<const table_ids> names;
  std::vector<std::shared_ptr<const table_ids>> embedding_names;

  std::int64_t count() const {
    return ids.empty() ? std::ssize(classes) : std::ssize(ids);
  }
};

/// What to write, and where.
struct prediction_request {
  std::filesystem::path out; ///< Ends in .csv: as text; else as .npy.
  bool listed = false;       ///< Of a list of nodes.
  bool classes = true; ///< Whether there are predictions, not embeddings alone.
  bool probabilities = false;
  bool logits = false;
  /// Whose embeddings: names of node types, of which "" is the target.
  std::vector<std::string> embeddings;

  bool csv() const { return out.extension() == ".csv"; }
};

/// The files of a prediction. Made before the work, which an unwritable place
/// would waste; seen under their names when all of them are whole.
///
///   OUT.npy                  [nodes] int64 classes, or [nodes, labels] uint8:
///                            1 for each label that a node is said to have,
///                            or values: [nodes] float32, or [nodes, values]
///                            where there are several
///   OUT.ids.npy              [nodes] int64, of a list
///   OUT.probabilities.npy    [nodes, classes] float32, and so OUT.logits.npy
///   OUT.embeddings.npy       [nodes, width] float32
///   OUT.embeddings.TYPE.npy  the same of all nodes of another type
///
/// As CSV, the first four are one file with a line for each node; labels are
/// columns of 0 and 1, and values are columns. Nodes that were imported from
/// tables have their ids there in a column `name`.
class prediction_files {
public:
  static result<prediction_files> create(const prediction_request& request);

  /// Fails, and leaves nothing under their names, if one cannot be written, or
  /// if a row of `made` lies in a mapped file that could not be read.
  result<void> write(const prediction& made);

  /// Names for people and for JSON: what it is, and its path.
  std::vector<std::pair<std::string, std::string>> names() const;

private:
  enum class content : std::uint8_t {
    classes,
    ids,
    probabilities,
    logits,
    embeddings,
  };
  struct file {
    content what = content::classes;
    std::string name;
    std::filesystem::path path;
    std::size_t embedding = 0; ///< Which of them.
    scratch_file scratch;
  };

  result<void> add(content what, std::string name, std::string_view infix,
                   std::size_t embedding = 0);
  result<void> write(const file& one, const prediction& made) const;
  result<void> write_labels(const file& one, const prediction& made) const;
  result<void> write_table(const file& one, const prediction& made) const;

  prediction_request request_;
  std::vector<file> files_;
};

} // namespace graphmill
