#pragma once

#include "tests/fuzz/harness.hpp"

namespace graphmill::fuzz {

// One for each thing that reads what others wrote; see README.md beside it.
extern const harness envelope_harness;
extern const harness hello_harness;
extern const harness control_messages_harness;
extern const harness data_messages_harness;
extern const harness answers_harness;
extern const harness proofs_harness;
extern const harness server_session_harness;
extern const harness caller_session_harness;
extern const harness definition_harness;
extern const harness settings_harness;
extern const harness json_harness;
extern const harness npy_harness;
extern const harness dataset_harness;
extern const harness partitions_harness;
extern const harness shard_arrays_harness;
extern const harness verified_harness;
extern const harness csv_rows_harness;
extern const harness csv_import_harness;
extern const harness columns_file_harness;
extern const harness columns_record_harness;
extern const harness npy_import_harness;
extern const harness wordnet_harness;
extern const harness safetensors_harness;
extern const harness run_folder_harness;
extern const harness checkpoint_harness;
extern const harness summaries_harness;
extern const harness history_harness;
extern const harness history_rows_harness;
extern const harness open_runs_harness;
extern const harness office_harness;
extern const harness stand_ins_harness;
extern const harness lock_note_harness;
extern const harness keys_harness;
extern const harness addresses_harness;
extern const harness launch_harness;
extern const harness printed_text_harness;
extern const harness kept_lines_harness;
extern const harness http_harness;
extern const harness http_bytes_harness;
extern const harness http_query_harness;
extern const harness shown_harness;
extern const harness traced_harness;
extern const harness sweeps_harness;
extern const harness node_lists_harness;
extern const harness roll_call_harness;

} // namespace graphmill::fuzz
