#include "pipelines/flow/credit_ledger.hpp"

#include <algorithm>

namespace graphmill {

credit_ledger::credit_ledger(credit_limits limits, sequence first)
  : limits_(limits) {
  limits_.items = std::max<std::uint64_t>(limits_.items, 1);
  seen_.next = first;
}

std::vector<credit_ledger::sequence>
credit_ledger::request(sequence which, std::uint64_t bytes) {
  std::vector<sequence> told;
  const auto found = items_.find(which);
  if (found == items_.end()) {
    if (which < seen_.next)
      return told;
    items_.emplace(which, entry{state::waiting, bytes});
  } else if (found->second.where == state::admitted) {
    told.push_back(which);
  } else if (found->second.where == state::waiting) {
    found->second.bytes = bytes;
  }
  settle(told);
  return told;
}

std::vector<credit_ledger::sequence>
credit_ledger::shrink(sequence which, std::uint64_t bytes) {
  std::vector<sequence> told;
  const auto found = items_.find(which);
  if (found == items_.end() || found->second.where != state::admitted)
    return told;
  auto& item = found->second;
  seen_.used_bytes = seen_.used_bytes - item.bytes + bytes;
  seen_.peak_bytes = std::max(seen_.peak_bytes, seen_.used_bytes);
  item.bytes = bytes;
  settle(told);
  return told;
}

std::vector<credit_ledger::sequence> credit_ledger::release(sequence which) {
  std::vector<sequence> told;
  const auto found = items_.find(which);
  if (found == items_.end()) {
    if (which >= seen_.next)
      items_.emplace(which, entry{state::passed, 0});
  } else if (found->second.where == state::admitted) {
    seen_.used_bytes -= found->second.bytes;
    --seen_.in_flight;
    items_.erase(found);
  } else {
    found->second = entry{state::passed, 0};
  }
  settle(told);
  return told;
}

credit_statistics credit_ledger::statistics() const {
  auto out = seen_;
  for (const auto& [which, item] : items_) {
    if (item.where == state::waiting)
      ++out.waiting;
    else if (item.where == state::admitted && !out.oldest)
      out.oldest = which;
  }
  return out;
}

std::optional<std::uint64_t> credit_ledger::held(sequence which) const {
  const auto found = items_.find(which);
  if (found == items_.end() || found->second.where != state::admitted)
    return std::nullopt;
  return found->second.bytes;
}

/// When nothing is in flight anything fits, so that an item larger than the
/// budget runs alone.
bool credit_ledger::fits(std::uint64_t bytes) const {
  return seen_.in_flight == 0
         || (seen_.in_flight < limits_.items && bytes <= limits_.bytes
             && seen_.used_bytes <= limits_.bytes - bytes);
}

void credit_ledger::admit(entry& item) {
  item.where = state::admitted;
  ++seen_.in_flight;
  seen_.used_bytes += item.bytes;
  seen_.peak_bytes = std::max(seen_.peak_bytes, seen_.used_bytes);
  if (item.bytes > limits_.bytes)
    ++seen_.oversize;
}

/// Admits items in sequence, as long as the next one has been asked for and
/// fits. It stops at one that does not fit, although a younger and smaller one
/// might: that would take credit for which the older one waits.
void credit_ledger::settle(std::vector<sequence>& told) {
  while (true) {
    const auto found = items_.find(seen_.next);
    if (found == items_.end())
      break;
    if (found->second.where == state::passed) {
      items_.erase(found);
    } else if (fits(found->second.bytes)) {
      admit(found->second);
      told.push_back(found->first);
    } else {
      break;
    }
    ++seen_.next;
  }
}

} // namespace graphmill
