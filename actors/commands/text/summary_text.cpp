#include "actors/commands/text/summary_text.hpp"

#include "actors/commands/text/evaluation_text.hpp"
#include "actors/run/run_summary.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/byte_text.hpp"
#include "messages/words/field_name.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>
#include <vector>

namespace graphmill {

namespace {

using nlohmann::json;

const json* find(const json& in, const char* key) {
  const auto at = in.is_object() ? in.find(key) : in.end();
  return at == in.end() || at->is_null() ? nullptr : &*at;
}

double number(const json& in, const char* key) {
  const auto* found = find(in, key);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

std::uint64_t count(const json& in, const char* key) {
  const auto* found = find(in, key);
  if (found == nullptr || !found->is_number_integer())
    return 0;
  return found->is_number_unsigned() || found->get<std::int64_t>() >= 0
           ? found->get<std::uint64_t>()
           : 0;
}

std::string text(const json& in, const char* key) {
  const auto* found = find(in, key);
  return found != nullptr && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

stage_report stage_of(const json& in) {
  stage_report out;
  stage_report::fields(out, [&in]<class Field>(const char* name, Field& field) {
    const auto key = user_name(name);
    if constexpr (std::is_integral_v<Field>)
      field = static_cast<Field>(count(in, key.c_str()));
    else if constexpr (std::is_floating_point_v<Field>)
      field = number(in, key.c_str());
    else
      field = text(in, key.c_str());
  });
  return out;
}

/// Which metric has chosen the best epoch, if that is not the accuracy.
std::string choice_of(const json& summary) {
  const auto metric = text(summary, "metric");
  const auto* best = find(summary, "validation");
  if (metric.empty() || metric == "accuracy" || best == nullptr
      || find(*best, metric.c_str()) == nullptr)
    return "";
  return format_printable(", the best by {} ({:.4f})", metric,
                          number(*best, metric.c_str()));
}

/// What validation and test say of labels that are numbers.
std::string value_lines(const json& summary) {
  std::string out;
  const auto line = [](const char* title, const json& told) {
    return fmt::format(
      "{:<17}{:.4g} MSE, {:.4g} RMSE, {:.4g} MAE, {} R2", title,
      number(told, "mse"), number(told, "rmse"), number(told, "mae"),
      find(told, "r2") == nullptr ? "-"
                                  : fmt::format("{:.4f}", number(told, "r2")));
  };
  const auto* best = find(summary, "validation");
  if (best != nullptr && find(*best, "mse") != nullptr)
    out += fmt::format("{} after epoch {}, the best by {}\n",
                       line("validation", *best), count(summary, "best_epoch"),
                       text(summary, "metric"));
  const auto* test = find(summary, "test");
  if (test != nullptr && find(*test, "mse") != nullptr)
    out += line("test", *test) + '\n';
  return out;
}

/// What validation and test say of links.
std::string link_lines(const json& summary) {
  std::string out;
  const auto* best = find(summary, "validation");
  const auto* test = find(summary, "test");
  const auto metric = text(summary, "metric");
  if (best != nullptr && find(*best, "mrr") != nullptr)
    out +=
      format_printable("validation       {} after epoch {}, the best by "
                       "{}\n",
                       ranks_text(*best), count(summary, "best_epoch"), metric);
  if (test == nullptr || find(*test, "mrr") == nullptr)
    return out;
  out += fmt::format("test             {}\n", ranks_text(*test));
  if (metric.find('@') != std::string::npos && find(*test, metric.c_str()) != nullptr)
    out += format_printable("{:<16} {:.4f}\n", "test " + metric,
                            number(*test, metric.c_str()));
  return out;
}

/// What the test says of classes, as far as it does.
std::string class_lines(const json& summary) {
  std::string out;
  const auto* test = find(summary, "test");
  if (test == nullptr)
    return out;
  if (find(*test, "f1_macro") != nullptr)
    out += fmt::format("test F1          {:.4f} macro, {:.4f} micro\n",
                       number(*test, "f1_macro"), number(*test, "f1_micro"));
  if (find(*test, "roc_auc") != nullptr)
    out += fmt::format(
      "test ROC-AUC     {:.4f}; average precision {:.4f}{}\n",
      number(*test, "roc_auc"), number(*test, "average_precision"),
      find(*test, "mrr") == nullptr ? "; " + means_text(*test) : "");
  if (const auto name = text(summary, "metric");
      name.find(':') != std::string::npos
      && find(*test, name.c_str()) != nullptr)
    out += format_printable("{:<16} {:.4f}\n", "test " + name,
                            number(*test, name.c_str()));
  if (const auto told = threshold_text(*test); !told.empty())
    out += format_printable("test threshold   {}\n", told);
  return out;
}

/// What a run says that measures a split, and trains nothing.
std::string evaluation_lines(const json& summary) {
  const auto* told = find(summary, "evaluation");
  if (told == nullptr)
    return "";
  auto out = format_printable("evaluated        the {} split: {}\n",
                              text(*told, "split"), measured_text(*told));
  if (const auto metrics = metrics_text(*told); !metrics.empty())
    out += fmt::format("metrics          {}\n", metrics);
  if (const auto threshold = threshold_text(*told); !threshold.empty())
    out += format_printable("threshold        {}\n", threshold);
  return out;
}

/// What the run takes on disk.
std::string size_line(const json& summary) {
  if (find(summary, "bytes") == nullptr)
    return "";
  const auto checkpoints = count(summary, "checkpoint_bytes");
  return fmt::format(
    "disk             {}{}\n", byte_text(count(summary, "bytes")),
    checkpoints == 0
      ? ""
      : fmt::format(", {} of it for checkpoints, to train for longer",
                    byte_text(checkpoints)));
}

} // namespace

std::string summary_text(const json& summary) {
  std::string out;
  const auto* stages = find(summary, "stages");
  if (stages != nullptr && stages->is_array() && !stages->empty()) {
    std::vector<stage_report> rows;
    for (const auto& stage : *stages)
      rows.push_back(stage_of(stage));
    out += fmt::format("\n{}", render_table(rows, number(summary, "seconds")));
  }
  if (const auto* sizes = find(summary, "sizes"))
    if (const auto changes = sizes_in(*sizes); changes && changes->size() > 1)
      out += fmt::format("\n"
                         "trainers         {} (after epochs/steps); --set "
                         "'trainer.sizes=[{}]' gives the same weights again\n",
                         sizes_text(*changes), sizes_text(*changes));
  if (const auto* cache = find(summary, "cache"))
    out += fmt::format("\nrow cache        {:.1f} % of {} remote rows found, "
                       "{:.1f} MB not sent\n",
                       100 * number(*cache, "hit_rate"),
                       count(*cache, "rows_wanted"),
                       number(*cache, "bytes_saved") * 1e-6);
  if (const auto* disk = find(summary, "disk"))
    out += fmt::format(
      "\n"
      "from disk        {} of {} requested feature rows, {:.1f} % found in the "
      "cache; {:.0f} rows/s by {:.0f} reads/s, {:.1f} MB\n",
      count(*disk, "rows_read"), count(*disk, "rows_wanted"),
      100 * number(*disk, "hit_rate"), number(*disk, "rows_read_per_second"),
      number(*disk, "reads_per_second"), number(*disk, "bytes_read") * 1e-6);
  out += fmt::format(
    "\n"
    "peak memory      {:.0f} MB; batches reserved {:.0f} MB at most\n",
    number(summary, "peak_memory_bytes") * 1e-6,
    number(summary, "peak_credit_bytes") * 1e-6);
  if (const auto batches = count(summary, "oversize_batches"); batches != 0)
    out += fmt::format("oversize         {} could have exceeded "
                       "budget.bytes and ran alone\n",
                       pluralized(batches, "batch", "batches"));
  return out + result_text(summary);
}

std::string result_text(const json& summary) {
  std::string out;
  if (const auto said = text(summary, "verdict"); !said.empty())
    out += format_printable("limit            {}\n", said);
  else if (const auto name = text(summary, "bottleneck"); !name.empty())
    out += format_printable("bottleneck       {}\n", name);
  if (find(summary, "validation_accuracy") != nullptr)
    out += fmt::format(
      "validation       {:.4f}{}{}\n", number(summary, "validation_accuracy"),
      find(summary, "best_epoch") != nullptr
        ? fmt::format(" after epoch {}", count(summary, "best_epoch"))
        : "",
      choice_of(summary));
  if (find(summary, "test_accuracy") != nullptr)
    out += fmt::format("test accuracy    {:.4f}\n",
                       number(summary, "test_accuracy"));
  out += value_lines(summary) + link_lines(summary) + class_lines(summary)
         + evaluation_lines(summary);
  if (const auto nodes = count(summary, "predicted"); nodes != 0)
    out += fmt::format("predicted        {}, in logits.npy and predictions.npy "
                       "of the run\n",
                       pluralized(nodes, "node"));
  if (const auto attempts = count(summary, "attempts"); attempts > 1)
    out += fmt::format("attempts         {}\n", attempts);
  if (const auto steps = find(summary, "steps");
      text(summary, "digest").empty() && steps != nullptr && *steps == 0)
    return out // A loader had its batches: nothing was trained or written.
           + fmt::format("time             {:.1f} s\n",
                         number(summary, "seconds"));
  out += fmt::format("time             {:.1f} s for {}, {}\n",
                     number(summary, "seconds"),
                     pluralized(count(summary, "epochs"), "epoch"),
                     pluralized(count(summary, "steps"), "step"));
  out += format_printable("weights digest   {}\n", text(summary, "digest"));
  out += size_line(summary);
  out += format_printable("run              {}\n", text(summary, "run"));
  return out;
}

} // namespace graphmill
