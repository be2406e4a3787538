#include "actors/commands/engine/predict_edges.hpp"

#include "actors/commands/engine/prediction_files.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/memory_probe.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/say.hpp"
#include "actors/run/local_run.hpp"
#include "actors/run/run_reporter.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/kernels/cross_entropy.hpp"
#include "pipelines/kernels/parameters.hpp"
#include "pipelines/model/layerwise/pair_scores.hpp"
#include "pipelines/model/layerwise/stored_outputs.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/model/threads.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Outputs of batches, by the positions of edges in the list.
struct edge_outputs {
  std::vector<std::int64_t> classes;
  std::vector<float> logits; ///< [edges, columns]
  std::size_t columns = 0;

  explicit edge_outputs(std::size_t edges) : classes(edges) {}

  void take(const step_result& told) {
    const auto& ids = *told.original_seeds;
    if (ids.empty())
      return;
    columns = told.output->logits.size() / ids.size();
    logits.resize(classes.size() * columns);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto edge = static_cast<std::size_t>(ids[i]);
      classes[edge] = told.output->predictions[i];
      std::copy_n(told.output->logits.data() + i * columns, columns,
                  logits.data() + edge * columns);
    }
  }

  /// @param all [edges, columns]
  void take(std::vector<float> all) {
    columns = classes.empty() ? 0 : all.size() / classes.size();
    logits = std::move(all);
    argmax({logits.data(), std::ssize(classes),
            static_cast<std::int64_t>(columns)},
           classes);
  }

  std::span<const float> of(std::size_t edge) const {
    return std::span{logits}.subspan(edge * columns, columns);
  }
};

std::vector<double> softmax_of(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> out;
  double sum = 0;
  for (const double logit : logits)
    sum += out.emplace_back(std::exp(logit - top));
  for (auto& one : out)
    one /= sum;
  return out;
}

/// The table of what was predicted.
class edge_table {
public:
  edge_table(const node_type_info& target, const task_traits& task,
             bool probabilities, bool typed)
    : target_(target), task_(task), probabilities_(probabilities),
      typed_(typed) {}

  std::string header() const {
    std::string out = "source,destination";
    if (typed_)
      out += ",type";
    if (task_.one_class)
      out += target_.class_names.empty() ? ",class" : ",class,class_name";
    else if (task_.outcomes == outcome_form::ranks)
      return out + ",score\n";
    else
      add_columns(task_.prediction.column, out);
    if (probabilities_)
      add_columns("probability_", out);
    return out + '\n';
  }

  void add(const std::array<std::string, 3>& texts, std::int64_t chosen,
           std::span<const float> logits, std::string& out) const {
    out += csv_text(texts[0]) + ',' + csv_text(texts[1]);
    if (typed_)
      out += ',' + csv_text(texts[2]);
    if (task_.one_class) {
      fmt::format_to(std::back_inserter(out), ",{}", chosen);
      if (!target_.class_names.empty())
        out +=
          ',' + csv_text(target_.class_names[static_cast<std::size_t>(chosen)]);
    } else {
      for (const auto logit : logits)
        if (task_.decides)
          out += logit > 0 ? ",1" : ",0";
        else
          fmt::format_to(std::back_inserter(out), ",{}", logit);
    }
    if (probabilities_)
      for (const auto one : probabilities_of(logits))
        fmt::format_to(std::back_inserter(out), ",{}", static_cast<float>(one));
    out += '\n';
  }

private:
  void add_columns(std::string_view name, std::string& out) const {
    for (std::int64_t c = 0; c < target_.class_count; ++c)
      fmt::format_to(std::back_inserter(out), ",{}{}", name, c);
  }

  std::vector<double> probabilities_of(std::span<const float> logits) const {
    if (task_.one_class)
      return softmax_of(logits);
    std::vector<double> out;
    for (const double logit : logits)
      out.push_back(1 / (1 + std::exp(-logit)));
    return out;
  }

  const node_type_info& target_;
  const task_traits& task_;
  const bool probabilities_;
  const bool typed_;
};

/// What a cluster has computed, and a decoder over it.
struct opened_outputs {
  model_layout layout;
  stored_outputs stored;
};

/// None: the run's folder has none, or they are of another dataset.
result<std::optional<opened_outputs>> outputs_before(const finished_run& run,
                                                     const dataset_info& info) {
  std::optional<opened_outputs> out;
  GRAPHMILL_TRY(auto layout, make_layout(run.config.def, info));
  if (run.other_dataset
      || !stored_outputs::are_in(run.folder.path(), layout, info))
    return out;
  GRAPHMILL_TRY(auto stored,
                stored_outputs::open(run.folder.path(), layout, info));
  out.emplace(opened_outputs{std::move(layout), std::move(stored)});
  return out;
}

result<void> score(std::span<const named_edge> edges,
                   const opened_outputs& from, const finished_run& run,
                   const dataset_info& info, const signal_watch& signals,
                   memory_probe& memory, edge_outputs& outputs) {
  GRAPHMILL_TRYV(check_no_others(run.config.def, info, run.config.weights));
  auto parameters = initial_parameters(from.layout, 0);
  GRAPHMILL_TRYV(from_tensors(from.layout, run.config.weights, parameters));
  keep_libraries_single_threaded();
  std::vector<const_matrix> rows;
  for (std::size_t place = 0; place < from.layout.outputs.size(); ++place)
    rows.push_back(from.stored.at(place));
  GRAPHMILL_TRY(auto logits,
                score_pairs(from.layout, parameters, rows, edges,
                            usable_processors(),
                            [&signals, &memory] {
                              memory.sample();
                              return signals.count() != 0;
                            }));
  outputs.take(std::move(logits));
  return ok();
}

result<run_result> predict_batches(std::vector<named_edge> edges,
                                         local_run_config& config, bool quiet,
                                         std::optional<signal_watch>& signals,
                                         edge_outputs& outputs) {
  config.mode = run_mode::predict;
  config.edges = std::move(edges);
  run_reporter reporter{nullptr, show_progress(quiet), nullptr};
  reporter.call_work("predict");
  config.observer = reporter.observer();
  config.observer.on_output = [&outputs](const step_result& told) {
    outputs.take(told);
  };
  GRAPHMILL_TRY(auto done, run_locally(std::move(config), signals));
  if (done.outcome.failure)
    return *done.outcome.failure;
  return done;
}

} // namespace

result<void> predict_edges(const edge_prediction_request& request,
                           finished_run& run) {
  auto& config = run.config;
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto graph, choose_target(whole, config.def));
  const auto& info = graph.info();
  if (config.def.decoder.edge_features)
    return fail(ec::invalid_argument,
                "the decoder of run {} reads the features of the edges "
                "themselves (`decoder.edge_features`), and a list of pairs has "
                "none; `graphmill evaluate` measures the splits of the dataset",
                in_quotes(config.def.name));
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto& task = task_of(target);
  if (request.probabilities && !task.decides)
    return fail(ec::invalid_argument,
                "--probabilities is for classes, and the task of {} is about "
                "{}; leave it out",
                in_quotes(info.name), task.outputs());
  std::vector<std::shared_ptr<const table_ids>> names;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    GRAPHMILL_TRY(auto of_type, table_ids::open(config.data, info,
                                                static_cast<node_type_id>(t)));
    names.push_back(std::move(of_type));
  }
  GRAPHMILL_TRY(auto listed,
                read_edge_list(request.edges, info, names, request.nodes_by));
  GRAPHMILL_TRY(auto file, scratch_file::create(request.out));
  edge_outputs outputs{listed.edges.size()};
  std::optional<opened_outputs> stored;
  if (!request.computes) {
    GRAPHMILL_TRY(stored, outputs_before(run, info));
  }
  const auto began = std::chrono::steady_clock::now();
  std::optional<signal_watch> signals; // Until all is written.
  run_result done;
  if (stored) {
    memory_probe memory;
    GRAPHMILL_TRYV(score(listed.edges, *stored, run, info,
                         signals.emplace(), memory, outputs));
    done.work.peak_memory_bytes = memory.peak_bytes();
    done.seconds = std::chrono::duration<double>(
                     std::chrono::steady_clock::now() - began)
                     .count();
  } else {
    GRAPHMILL_TRY(done, predict_batches(std::move(listed.edges), config,
                                        request.quiet, signals, outputs));
  }
  const edge_table table{target, task, request.probabilities,
                         chosen_task(info)->edge_types.size() > 1};
  auto text = table.header();
  for (std::size_t i = 0; i < listed.texts.size(); ++i)
    table.add(listed.texts[i], outputs.classes[i], outputs.of(i), text);
  GRAPHMILL_TRYV(
    write_all(file.fd(), std::as_bytes(std::span{text}), request.out));
  GRAPHMILL_TRYV(file.commit());
  if (request.json)
    say("{}\n", one_line({{"edges", listed.texts.size()},
                          {"other_dataset", run.other_dataset},
                          {"peak_memory_bytes", done.work.peak_memory_bytes},
                          {"predictions", request.out.string()},
                          {"seconds", done.seconds},
                          {"stored_embeddings", stored.has_value()}}));
  else
    say("wrote the {} of {} to {}{}\n",
        task.outcomes == outcome_form::ranks ? "scores" : task.outputs(),
        pluralized(listed.texts.size(), "edge"), request.out.string(),
        stored ? ", by the embeddings in the run's folder" : "");
  return ok();
}

} // namespace graphmill
