#include "tests/fuzz/registry.hpp"

#include <array>

namespace graphmill::fuzz {

std::span<const harness> harnesses() {
  static const std::array all{
    envelope_harness,       hello_harness,          control_messages_harness,
    data_messages_harness,  answers_harness,        proofs_harness,
    server_session_harness, caller_session_harness, definition_harness,
    settings_harness,       json_harness,           npy_harness,
    dataset_harness,        partitions_harness,     shard_arrays_harness,
    verified_harness,       csv_rows_harness,       csv_import_harness,
    npy_import_harness,     wordnet_harness,        safetensors_harness,
    run_folder_harness,     summaries_harness,      history_harness,
    history_rows_harness,   open_runs_harness,      lock_note_harness,
    keys_harness,           addresses_harness,      launch_harness,
    printed_text_harness,   kept_lines_harness,     http_harness,
    http_bytes_harness,     checkpoint_harness,     http_query_harness,
    shown_harness,          traced_harness,         sweeps_harness,
    node_lists_harness,     roll_call_harness,      office_harness,
    stand_ins_harness,      columns_file_harness,   columns_record_harness,
  };
  return all;
}

} // namespace graphmill::fuzz
