#include "partition/files/json_text.hpp"

#include "actors/commands/text/run_watcher.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "pipelines/figures/status_json.hpp"
#include "tests/fuzz/registry.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

// JSON as such, and what the coordinator sends in JSON: metrics and summaries.

namespace graphmill::fuzz {

namespace {

std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void read_json_text(std::string_view input) {
  const auto ordered = parse_ordered_json(input, "a text");
  const auto plain = parse_json(input, "a text");
  require(ordered.has_value() == plain.has_value(),
          "a text is JSON in one order and not in another");
  if (!plain)
    return;
  const auto text = dumped(plain.value());
  const auto again = parse_json(text, "what was written");
  require(again.has_value() && dumped(again.value()) == text,
          "a value that was written down reads as another one");
  if (const auto whole = integer_of(plain.value()))
    require(plain.value() == *whole, "an integer that is not its value");
}

std::vector<std::string> texts() {
  return {
    R"({"a": [1, -2.5e3, true, null, "\u20ac\n"], "b": {"c": {}}})",
    "[[[[]]]]",
    "18446744073709551615",
    "-9223372036854775808",
    R"(["\ud83d\ude00"])",
  };
}

void read_summary(std::string_view input) {
  if (const auto metrics = read_metrics(std::string{input}))
    require(metrics.value().epoch >= -1 && metrics.value().metrics.seeds >= 0,
            "metrics of an epoch or of seeds below 0");
  if (const auto summary = parse_json(input, "a summary"))
    require(!summary_text(summary.value()).empty(), "a summary without text");
  run_record record;
  record.summary = input;
  const auto shown = summary_json(record);
  require(shown.is_null() || shown.is_object(), "a summary that is none");
  const auto brief = brief_summary(record.summary);
  require(brief.empty() || parse_json(brief, "a brief summary"),
          "a brief summary that is no JSON");
}

std::vector<std::string> summaries() {
  return {
    R"({"phase": "train", "epoch": 1, "seeds": 12, "steps": 3, "loss": 0.5,
 "accuracy": 0.75, "learning_rate": 0.01, "seconds": 1.5})",
    R"({"phase": "validation", "epoch": 0, "seeds": 0, "loss": null,
 "accuracy": 0})",
    R"({"phase": "validation", "epoch": 2, "seeds": 3, "loss": 0.5,
 "metric": "hits@5", "hits@5": 0.75, "hits@10": 1, "mrr": 0.5})",
    R"({"seconds": 2.5, "epochs": 2, "steps": 6, "digest": "abc", "run": "r",
 "bottleneck": "trainer", "peak_memory_bytes": 1000000,
 "stages": [{"stage": "sampler", "replicas": 2, "items": 7, "bytes": 8,
  "busy_seconds": 1, "cpu_seconds": 1, "restarts": 0}],
 "cache": {"hit_rate": 0.5, "rows_wanted": 9, "bytes_saved": 10},
 "disk": {"rows_read": 1, "rows_wanted": 2, "hit_rate": 0.5},
 "test_accuracy": 0.5, "validation_accuracy": 0.25, "oversize_batches": 1})",
  };
}

} // namespace

const harness json_harness{"json", "JSON", read_json_text, texts, 8000};
const harness summaries_harness{
  "summaries", "metrics and summaries that a coordinator sends", read_summary,
  summaries, 4000};

} // namespace graphmill::fuzz
