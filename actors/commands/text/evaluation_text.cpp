#include "actors/commands/text/evaluation_text.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>

namespace graphmill {

namespace {

/// Null where there is no such thing.
nlohmann::json entry_of(const nlohmann::json& told, const char* key) {
  return told.is_object() ? told.value(key, nlohmann::json{})
                          : nlohmann::json{};
}

std::string four_digits(const nlohmann::json& told, const char* key) {
  const auto value = entry_of(told, key);
  return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : "-";
}

} // namespace

std::string measured_text(const nlohmann::json& told) {
  const auto accuracy = entry_of(told, "accuracy").is_number()
                          ? "accuracy " + four_digits(told, "accuracy") + ", "
                          : std::string{};
  const auto loss =
    entry_of(told, "loss"); // Null is what is no number in JSON.
  const auto seeds = integer_of(entry_of(told, "seeds")).value_or(0);
  return fmt::format(
    "{}loss {} over {}", accuracy,
    loss.is_number() ? four_digits(told, "loss") : "nan",
    pluralized(static_cast<std::uint64_t>(std::max<std::int64_t>(seeds, 0)),
               "seed"));
}

std::string metrics_text(const nlohmann::json& told) {
  const auto number = [&told](const char* key) {
    return four_digits(told, key);
  };
  const auto has = [&told](const char* key) {
    return told.is_object() && told.contains(key);
  };
  std::string out;
  if (has("f1_macro"))
    out += fmt::format("F1 {} macro, {} micro", number("f1_macro"),
                       number("f1_micro"));
  if (has("mse"))
    out += fmt::format("MSE {}, RMSE {}, MAE {}, R2 {}", number("mse"),
                       number("rmse"), number("mae"), number("r2"));
  if (has("mrr"))
    out += ranks_text(told);
  if (has("roc_auc"))
    out += fmt::format("{}ROC-AUC {}, average precision {}{}",
                       out.empty() ? "" : "; ", number("roc_auc"),
                       number("average_precision"),
                       has("mrr") ? "" : ", " + means_text(told));
  return out;
}

std::string ranks_text(const nlohmann::json& told) {
  const auto mean = entry_of(told, "mean_rank");
  const auto tied = entry_of(told, "tied");
  const auto groups = entry_of(told, "recall@20").is_number()
                        ? fmt::format(", recall@20 {}, NDCG@20 {}",
                                      four_digits(told, "recall@20"),
                                      four_digits(told, "ndcg@20"))
                        : std::string{};
  return fmt::format(
    "MRR {}, hits@1 {}, hits@3 {}, hits@10 {}{}, mean rank {}, {} tied",
    four_digits(told, "mrr"), four_digits(told, "hits@1"),
    four_digits(told, "hits@3"), four_digits(told, "hits@10"), groups,
    mean.is_number() ? fmt::format("{:.4g}", mean.get<double>()) : "-",
    tied.is_number() ? fmt::format("{:.1f} %", 100 * tied.get<double>()) : "-");
}

std::string means_text(const nlohmann::json& told) {
  const auto classes = entry_of(told, "classes");
  return classes.is_array() && classes.size() == 2 ? "means over both classes"
                                                   : "means over the classes";
}

std::string threshold_text(const nlohmann::json& told) {
  const auto of = entry_of(told, "threshold_of");
  const auto probability = entry_of(told, "threshold");
  if (!of.is_string() || !probability.is_number())
    return "";
  const auto name = of.get<std::string>();
  const auto number = [&told](const char* key) {
    return four_digits(told, key);
  };
  return format_printable(
    "{} from probability {} on: precision {}, recall {}, F1 {}, "
    "false-positive rate {}",
    name.substr(name.find(':') + 1), number("threshold"),
    number("threshold_precision"), number("threshold_recall"),
    number("threshold_f1"), number("threshold_false_positive_rate"));
}

} // namespace graphmill
