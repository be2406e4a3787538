#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"

#include <string>
#include <vector>

namespace graphmill {

/// What a run computes in another way by one definition than by another, a text
/// for each field: "train.epochs: 10, now 20". Fields that only decide how fast
/// it is, where, or what it leaves behind are passed over.
std::vector<std::string> changes_between(const definition& before,
                                         const definition& now);

/// Fails, and names the changes, if there are any: a run that went on by them
/// would not end as one that was never stopped.
result<void> check_unchanged(const definition& before, const definition& now);

/// Fails if the best epoch would be chosen in another way than so far, by
/// another metric or on another label set: what two of them give cannot be
/// compared. So no run can go on like that, whatever else its user wants
/// changed.
result<void> check_same_validation(const definition& before,
                                   const definition& now);

} // namespace graphmill
