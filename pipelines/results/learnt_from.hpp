#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/dataset/meaning/original_names.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// What weights have learnt from: by that it is known whether other data mean
/// the same, and what the outputs of the model are.
struct learnt_from {
  std::string dataset_digest;
  /// Runs that do not say of which kind they are are older than all labels but
  /// classes, and older ones do not say how many there are.
  label_meaning labels = {};
  feature_meanings features = {}; ///< As far as is known.
  original_names names = {};      ///< Of types that have derived names.
  /// Of the times of the dataset; 0 if it has none, or the run does not say.
  std::int64_t ticks_per_second = 0;

  friend bool operator==(const learnt_from&, const learnt_from&) = default;
};

/// An object of JSON with fields for all of it.
nlohmann::json to_json(const learnt_from& of);

/// What such an object says; fields that are not there say nothing.
/// @param where What the object stands in, for the error.
result<learnt_from> learnt_in(const nlohmann::json& about,
                              std::string_view where);

/// What the weights of a run on a dataset learn from.
/// @param data Its folder.
result<learnt_from> learnt_on(const definition& def, const dataset_info& info,
                              const std::filesystem::path& data);

/// What the run.json of the run says that a file of weights lies in: in its
/// folder, or in one of its checkpoints. Nothing if the file is of no run, or
/// its run does not say.
result<std::optional<learnt_from>>
learnt_beside(const std::filesystem::path& weights);

/// What is known of those features of a dataset that a definition reads.
/// @param data Its folder.
result<feature_meanings> features_read(const definition& def,
                                       const dataset_info& info,
                                       const std::filesystem::path& data);

// Whether weights can be used on another dataset than the one that they have
// learnt from. There may be other nodes, edges and types. Shapes are compared
// when weights are loaded. `told` says of an error what the dataset is; it goes
// on with ", and".

/// Fails if a type stands for something else there.
result<void> expect_same_relations(const original_names& here,
                                   const learnt_from& from,
                                   std::string_view told);

/// Fails if features or ages that a definition reads mean something else there,
/// or a type stands for something else.
/// @param data The folder of the dataset.
result<void> expect_same_inputs(const definition& def, const dataset_info& info,
                                const std::filesystem::path& data,
                                const learnt_from& from, std::string_view told);

/// Fails if the window of a definition counts seconds in one dataset and steps
/// in the other.
result<void> expect_same_window(const definition& def, const dataset_info& info,
                                const learnt_from& from, std::string_view told);

/// Fails if labels are of another kind.
result<void> expect_same_kind(const label_meaning& here,
                              const learnt_from& from, std::string_view told);

/// Fails if labels are of another kind, or of other classes or in another
/// order, as far as is known.
/// @param remedy What to do about that, a sentence without its full stop.
result<void> expect_same_labels(const label_meaning& here,
                                const learnt_from& from, std::string_view told,
                                std::string_view remedy);

/// All of it, for weights that a run begins with (`model.weights`). Nothing is
/// compared if they have learnt from this very dataset.
result<void> check_first_weights(const definition& def,
                                 const dataset_info& info,
                                 const std::filesystem::path& data,
                                 const learnt_from& from,
                                 std::string_view told);

} // namespace graphmill
