#include "actors/commands/options/source_check.hpp"

#include "actors/commands/options/definition_options.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/verification/verification.hpp"

namespace graphmill {

result<void> verify_source(const dataset& data,
                           const progress_callback& on_progress,
                           const std::atomic<bool>* stop) {
  auto memory = verified_files::open(data.folder(), user_memory());
  GRAPHMILL_TRY(const auto records, records_of(data));
  GRAPHMILL_TRYV(verify_all(
    records, {.memory = &memory, .stop = stop, .on_progress = on_progress}));
  // Not remembered, it is read again the next time.
  (void)memory.save();
  return ok();
}

} // namespace graphmill
