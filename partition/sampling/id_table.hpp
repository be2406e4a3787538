#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace graphmill {

/// Numbers the nodes of one type in discovery order: global id -> local id.
/// Four bytes per slot. While the batch is small against the type, a flat hash
/// table whose slots point into the list of known ids (which settles whether a
/// slot is the right one); else an array with a slot for each id.
class id_table {
public:
  /// @param universe Ids are in [0, universe).
  id_table(std::int64_t universe, std::shared_ptr<buffer_pool> pool)
    : universe_(universe), slots_(std::move(pool)) {}

  /// Makes room for `ids` to grow to `total` elements without a rebuild.
  void reserve(const pod_vector<node_id>& ids, std::int64_t total);

  /// Writes the local id of each element of `globals` to `locals` (which may be
  /// the same memory) and appends new ids to `ids`. Grows as needed.
  template <class Id>
  void number(std::span<const Id> globals, local_id* locals,
              pod_vector<node_id>& ids);

private:
  bool direct() const {
    return static_cast<std::int64_t>(slots_.size()) == universe_;
  }
  template <class Id>
  void number_direct(std::span<const Id> globals, local_id* locals,
                     pod_vector<node_id>& ids);
  template <class Id>
  void number_hashed(std::span<const Id> globals, local_id* locals,
                     pod_vector<node_id>& ids);

  std::int64_t universe_;
  pod_vector<local_id> slots_; ///< -1 = free.
};

} // namespace graphmill
