#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/dataset/meaning/original_names.hpp"

#include <nlohmann/json_fwd.hpp>

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

  friend bool operator==(const learnt_from&, const learnt_from&) = default;
};

/// An object of JSON with fields for all of it.
nlohmann::json to_json(const learnt_from& of);

/// What such an object says; fields that are not there say nothing.
/// @param where What the object stands in, for the error.
result<learnt_from> learnt_in(const nlohmann::json& about,
                              std::string_view where);

/// What the run.json of the run says that a file of weights lies in: in its
/// folder, or in one of its checkpoints. Nothing if the file is of no run, or
/// its run does not say.
result<std::optional<learnt_from>>
learnt_beside(const std::filesystem::path& weights);

/// Fails if a type stands for something else here than in what weights have
/// learnt from.
/// @param told What the weights or the data are, for the error: it goes on with
/// ", and".
result<void> expect_same_relations(const original_names& here,
                                   const learnt_from& from,
                                   std::string_view told);

} // namespace graphmill
