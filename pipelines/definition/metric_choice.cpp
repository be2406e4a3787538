#include "pipelines/definition/metric_choice.hpp"

#include "pipelines/definition/class_names.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr std::array metric_words{
  std::pair{evaluation_metric::accuracy, "accuracy"},
  std::pair{evaluation_metric::loss, "loss"},
  std::pair{evaluation_metric::f1_macro, "f1_macro"},
  std::pair{evaluation_metric::roc_auc, "roc_auc"},
  std::pair{evaluation_metric::average_precision, "average_precision"},
  std::pair{evaluation_metric::f1_micro, "f1_micro"},
  std::pair{evaluation_metric::mse, "mse"},
  std::pair{evaluation_metric::mae, "mae"},
  std::pair{evaluation_metric::f1, "f1"},
  std::pair{evaluation_metric::precision, "precision"},
  std::pair{evaluation_metric::recall, "recall"},
  std::pair{evaluation_metric::recall_at_fpr, "recall_at_fpr"},
  std::pair{evaluation_metric::precision_at_k, "precision_at_k"},
  std::pair{evaluation_metric::mrr, "mrr"},
  std::pair{evaluation_metric::hits, "hits"},
  std::pair{evaluation_metric::mean_rank, "mean_rank"},
  std::pair{evaluation_metric::ndcg, "ndcg"},
  // Behind those of one class, which have the same words and no `@`.
  std::pair{evaluation_metric::recall_at, "recall"},
  std::pair{evaluation_metric::precision_at, "precision"},
};

/// "recall_at_fpr@0.01:fraud" in its parts.
struct metric_parts {
  std::string_view word;
  std::optional<std::string_view> at;
  std::optional<std::string_view> of;
};

metric_parts parts_of(std::string_view text) {
  metric_parts out;
  out.word = text.substr(0, text.find_first_of("@:"));
  text.remove_prefix(out.word.size());
  if (text.starts_with('@')) {
    out.at = text.substr(1, text.find(':') - 1);
    text.remove_prefix(1 + out.at->size());
  }
  if (text.starts_with(':'))
    out.of = text.substr(1);
  return out;
}

/// Recall and precision of a class are those of links with a K.
evaluation_metric metric_with(evaluation_metric word,
                              const metric_parts& parts) {
  if (parts.at && word == evaluation_metric::recall)
    return evaluation_metric::recall_at;
  if (parts.at && word == evaluation_metric::precision)
    return evaluation_metric::precision_at;
  return word;
}

/// The number behind `@`, which these metrics need and no others have.
result<double> place_of(evaluation_metric which, const metric_parts& parts) {
  const auto by_rate = which == evaluation_metric::recall_at_fpr;
  const auto of_links = which == evaluation_metric::hits || is_of_groups(which);
  if (!by_rate && !of_links && which != evaluation_metric::precision_at_k) {
    if (parts.at)
      return fail(ec::invalid_argument,
                  "{} takes no `@`; recall_at_fpr, precision_at_k, hits, "
                  "recall, precision and ndcg do",
                  to_string(which));
    return 0;
  }
  const auto number = parts.at ? parse_number(*parts.at).value_or(-1) : -1.0;
  const auto sound =
    by_rate ? number >= 0 && number < 1
            : number >= 1 && number <= 1e15 && std::floor(number) == number;
  if (sound)
    return number;
  return fail(ec::invalid_argument, "{0} needs {1} behind `@`, as in {0}@{2}",
              to_string(which),
              by_rate    ? "a false-positive rate from 0 to below 1"
              : of_links ? "a whole number of ranks from 1 on"
                         : "a whole number of seeds from 1 on",
              by_rate    ? "0.01:CLASS"
              : of_links ? "10"
                         : "100:CLASS");
}

/// What a metric is of, as far as its name says.
outcome_form form_by_name(evaluation_metric which) {
  return is_of_values(which)  ? outcome_form::values
         : is_of_ranks(which) ? outcome_form::ranks
                              : outcome_form::classes;
}

/// All but the class.
result<metric_choice> form_of(evaluation_metric word, const std::string& text) {
  const auto parts = parts_of(text);
  const auto which = metric_with(word, parts);
  metric_choice out;
  out.which = which;
  out.form = form_by_name(which);
  out.name = text;
  GRAPHMILL_TRY(out.at, place_of(which, parts));
  const auto may_have = is_of_one_class(which)
                        || which == evaluation_metric::roc_auc
                        || which == evaluation_metric::average_precision;
  if (parts.of && !may_have)
    return fail(ec::invalid_argument,
                "{} is {}, and not of one; f1, precision, "
                "recall, roc_auc, average_precision, recall_at_fpr and "
                "precision_at_k can be of one class",
                to_string(which),
                is_of_ranks(which) ? "of links, which have no classes"
                                   : "over all classes");
  if (is_of_one_class(which) ? !parts.of || parts.of->empty()
                             : parts.of && parts.of->empty())
    return fail(ec::invalid_argument,
                "{} needs a class behind `:`, as in {}:fraud", in_quotes(text),
                text.substr(0, text.find(':')));
  return out;
}

} // namespace

evaluation_metric metric_meant(const definition::evaluate_section& evaluate) {
  return metric_with(evaluate.metric, parts_of(evaluate.metric_detail));
}

namespace {

std::string text_of(const definition::evaluate_section& evaluate) {
  return to_string(evaluate.metric) + evaluate.metric_detail;
}

/// @param target Null: classes are not looked up.
result<metric_choice> choose_metric(evaluation_metric which,
                                    const std::string& text,
                                    const node_type_info* target) {
  GRAPHMILL_TRY(auto out, form_of(which, text));
  if (const auto of = parts_of(text).of; of && target != nullptr) {
    GRAPHMILL_TRY(out.of, class_named(*target, *of));
  }
  return out;
}

error no_threshold(const std::string& text) {
  return fail(ec::invalid_argument,
              "{} is no threshold; write a probability and a class, as in "
              "0.3:fraud, or what to tune it by: f1:CLASS, "
              "recall_at_fpr@RATE:CLASS or precision_at_k@COUNT:CLASS",
              in_quotes(text));
}

/// @param target Null: classes are not looked up.
result<std::optional<threshold_choice>>
choose_threshold(const std::string& text, const node_type_info* target) {
  if (text.empty())
    return std::optional<threshold_choice>{};
  const auto parts = parts_of(text);
  threshold_choice out;
  out.name = text;
  if (!parts.of || parts.of->empty())
    return no_threshold(text);
  out.class_name = *parts.of;
  if (target != nullptr) {
    GRAPHMILL_TRY(out.of, class_named(*target, out.class_name));
  }
  if (const auto number = parse_number(parts.word)) {
    if (parts.at || *number < 0 || *number > 1)
      return no_threshold(text);
    out.fixed = number;
    return std::optional{std::move(out)};
  }
  for (const auto which :
       {evaluation_metric::f1, evaluation_metric::recall_at_fpr,
        evaluation_metric::precision_at_k})
    if (parts.word == to_string(which)) {
      GRAPHMILL_TRY(out.by, choose_metric(which, text, target));
      return std::optional{std::move(out)};
    }
  return no_threshold(text);
}

} // namespace

metric_choice::metric_choice(evaluation_metric over_all)
  : which(over_all), name(to_string(over_all)), form(form_by_name(over_all)) {}

const char* to_string(evaluation_metric which) {
  for (const auto& [metric, word] : metric_words)
    if (metric == which)
      return word;
  return "";
}

std::optional<metric_choice> metric_called(const std::string& name) {
  const auto parts = parts_of(name);
  for (const auto& [metric, word] : metric_words)
    if (parts.word == word) {
      auto out = form_of(metric, name);
      if (!out)
        return std::nullopt;
      if (parts.of)
        out.value().of = 0;
      return std::move(out).value();
    }
  return std::nullopt;
}

measures measures_of(const definition& def, const dataset_info& info) {
  // What shows the label set already has no others.
  const auto chosen = choose_target(info, def);
  const auto& seen = chosen ? chosen.value() : info;
  const auto& target = seen.node_types[static_cast<std::size_t>(seen.target)];
  return {metric_of(def.evaluate, target).value(),
          threshold_of(def.evaluate, target).value()};
}

result<metric_choice> metric_of(const definition::evaluate_section& evaluate,
                                const node_type_info& target) {
  const auto form = task_of(target).outcomes;
  if (form == outcome_form::ranks
      && evaluate.metric == evaluation_metric::accuracy)
    return metric_choice{evaluation_metric::mrr};
  GRAPHMILL_TRY(auto out,
                choose_metric(evaluate.metric, text_of(evaluate), &target));
  out.form = form;
  return out;
}

result<std::optional<threshold_choice>>
threshold_of(const definition::evaluate_section& evaluate,
             const node_type_info& target) {
  return choose_threshold(evaluate.threshold, &target);
}

result<void> check_metric(const definition::evaluate_section& evaluate) {
  GRAPHMILL_TRYV(choose_metric(evaluate.metric, text_of(evaluate), nullptr));
  return ok();
}

result<void> check_threshold(const definition::evaluate_section& evaluate) {
  GRAPHMILL_TRYV(choose_threshold(evaluate.threshold, nullptr));
  return ok();
}

} // namespace graphmill
