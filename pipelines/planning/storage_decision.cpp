#include "pipelines/planning/storage_decision.hpp"

#include "messages/words/byte_text.hpp"
#include "partition/disk/row_reader.hpp"
#include "pipelines/planning/budget_note.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// What a run takes beside batches, parameters and activations: stacks of
/// threads, code that is read from disk while it runs, and what the allocator
/// keeps.
constexpr std::uint64_t slack = std::uint64_t{64} << 20;

/// What a run takes for itself beside its batches.
std::uint64_t working_bytes(const run_plan& plan) {
  std::uint64_t sum = slack;
  for (const auto& part : plan.memory)
    if (part.name != batches_entry && part.name != allowance_entry)
      sum += part.bytes;
  return sum;
}

memory_room room_for(const storage_choice& choice,
                     const memory_room& available) {
  auto out = available;
  if (choice.memory_bytes != 0 && choice.memory_bytes < available.bytes)
    out = {choice.memory_bytes, "what --memory allows"};
  if (choice.sharers > 1) {
    out.bytes /= choice.sharers;
    out.bound += fmt::format(", shared by {} runs", choice.sharers);
  }
  return out;
}

std::string reason(const storage_choice& choice, const storage_decision& out,
                   std::uint64_t needed) {
  if (choice.where != storage_kind::automatic)
    return "as --storage says";
  return fmt::format("{} of data and {} for the run {} into {} ({})",
                     byte_text(out.data.bytes()), byte_text(needed),
                     out.from_disk ? "do not fit" : "fit",
                     byte_text(out.room.bytes), out.room.bound);
}

} // namespace

void add_storage(run_plan& plan, const storage_decision& storage) {
  if (!storage.from_disk)
    return;
  for (auto& entry : plan.memory)
    if (entry.name == batches_entry)
      entry.bytes = std::max(
        {storage.batch_bytes, plan.train.bytes, plan.evaluation.bytes});
  plan.memory.insert(plan.memory.begin() + 1,
                     {"cache of rows from disk",
                      storage.memory.row_cache + row_reader::buffer_bytes});
}

std::string sentence(const storage_decision& decision) {
  if (!decision.from_disk)
    return fmt::format("the graph is used in memory: {}", decision.reason);
  return fmt::format("the graph is read from disk, with {} for feature rows, "
                     "{} for pages of everything else and {} for batches: {}",
                     byte_text(decision.memory.row_cache),
                     byte_text(decision.memory.pages),
                     byte_text(decision.batch_bytes), decision.reason);
}

storage_decision decide_storage(const definition& def, const run_plan& plan,
                                const storage_choice& choice,
                                const part_bytes& data,
                                const memory_room& available) {
  storage_decision out;
  out.oversize = note_on_budget(plan).value_or("");
  out.data = data;
  out.room = room_for(choice, available);
  const auto& room = out.room;
  const auto largest = std::max(plan.train.bytes, plan.evaluation.bytes);
  const auto in_flight = std::max<std::uint64_t>(plan.batches_in_flight, 1);
  out.batch_bytes = largest > def.budget.bytes / in_flight
                      ? def.budget.bytes
                      : largest * in_flight;
  const auto working = working_bytes(plan);
  const auto needed = working + out.batch_bytes;
  out.from_disk =
    choice.where == storage_kind::disk
    || (choice.where == storage_kind::automatic
        && room.bytes - std::min(room.bytes, needed) < data.bytes());
  out.reason = reason(choice, out, needed);
  if (!out.from_disk) {
    out.batch_bytes = def.budget.bytes;
    return out;
  }
  const auto left = room.bytes - std::min(room.bytes, working);
  // The other half is left to cached rows and pages: without them every batch
  // would wait for the disk.
  out.batch_bytes =
    std::max<std::uint64_t>(std::min(out.batch_bytes, left / 2), 1);
  out.memory = divide(left - std::min(left, out.batch_bytes), data);
  if (choice.cache_bytes != 0)
    out.memory.row_cache = choice.cache_bytes;
  return out;
}

} // namespace graphmill
