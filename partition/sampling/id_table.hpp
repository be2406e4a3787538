#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace graphmill {

/// Numbers the nodes of one type in the order of their discovery: it maps
/// global ids to local ids. A slot takes four bytes and holds a local id.
///
/// It has two forms. While the batch is small against the type, it is a hash
/// table with open addressing whose slots hold no keys: the list of known ids,
/// which the batch needs anyway, tells whether a slot is the right one. When
/// the table would have half as many slots as the type has nodes, or more, it
/// becomes an array with a slot for each id, which needs no search. It stays
/// one.
///
/// The list of known ids belongs to the caller, who passes the same one to
/// every call and changes it in no other way. Not thread-safe. Throws
/// std::bad_alloc when there is no memory.
class id_table {
public:
  /// @param universe Ids are in [0, universe).
  /// @param pool Where the slots' memory comes from; null: the heap.
  id_table(std::int64_t universe, std::shared_ptr<buffer_pool> pool)
    : universe_(universe), slots_(std::move(pool)) {}

  /// Makes room for `ids` to grow to `total` elements without a rebuild.
  void reserve(const pod_vector<node_id>& ids, std::int64_t total);

  /// Writes the local id of each element of `globals` to `locals` (which may be
  /// the same memory) and appends new ids to `ids`. Grows as needed. Ids must
  /// be in the universe: they are not checked here.
  template <class Id>
  void number(std::span<const Id> globals, local_id* locals,
              pod_vector<node_id>& ids);

  /// The local id of a global one; -1: it has none.
  local_id find(node_id global, const pod_vector<node_id>& ids) const;

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
