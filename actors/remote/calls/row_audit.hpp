#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/data.hpp"
#include "messages/work/work_report.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace graphmill {

/// Chooses which values that a share of a run gets from other daemons are
/// checked, and keeps what came of it. The choice depends on the batch and the
/// node, so that a batch that is begun anew has the same values checked, and on
/// a secret of this process, so that no owner knows it before it answers. Any
/// thread may call it.
class row_audit {
public:
  /// @param share Of the values, from 0 to 1.
  row_audit(double share, std::uint64_t secret);

  /// With a secret of the system's.
  static std::shared_ptr<row_audit> make(double share);

  /// Whether a value that a batch got is checked.
  /// @param batch As in `gather_job`.
  bool picks(std::uint64_t batch, node_type_id type, gather_kind kind,
             node_id id) const;

  /// Values were found to be those of the dataset. @param bytes Of the proofs.
  void sound(std::uint64_t values, std::uint64_t bytes);
  item_count sound() const;

  /// A daemon has sent what the dataset does not have.
  void caught(const std::string& daemon);
  std::vector<std::string> liars() const; ///< Names, ascending.

private:
  std::uint64_t below_ = 0; ///< Of 2^32 draws, so many are a yes.
  std::uint64_t secret_ = 0;
  mutable std::mutex mutex_; ///< Of all below.
  item_count sound_;
  std::set<std::string> liars_;
};

} // namespace graphmill
