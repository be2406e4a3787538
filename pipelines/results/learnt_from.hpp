#pragma once

#include "messages/base/error.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"

#include <nlohmann/json_fwd.hpp>

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

  friend bool operator==(const learnt_from&, const learnt_from&) = default;
};

/// An object of JSON with fields for all of it.
nlohmann::json to_json(const learnt_from& of);

/// What such an object says; fields that are not there say nothing.
/// @param where What the object stands in, for the error.
result<learnt_from> learnt_in(const nlohmann::json& about,
                              std::string_view where);

} // namespace graphmill
