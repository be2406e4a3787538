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
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/flow/seed_table.hpp"
#include "pipelines/kernels/class_scores.hpp"
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
#include <array>
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

/// Outputs of batches, by the positions of edges in the list or split.
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
  void take(std::vector<float> given) {
    columns = classes.empty() ? 0 : given.size() / classes.size();
    logits = std::move(given);
    argmax(all(), classes);
  }

  const_matrix all() const {
    return {logits.data(), std::ssize(classes),
            static_cast<std::int64_t>(columns)};
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

/// The edges of a split, in its order.
class edges_of_split {
public:
  /// @param graph With a chosen task.
  /// @param names By node type; null: nodes have numbers alone.
  static result<edges_of_split>
  open(const partitioned_graph& graph, split which,
       std::span<const std::shared_ptr<const table_ids>> names) {
    edges_of_split out;
    out.graph_ = std::make_shared<const partitioned_graph>(graph);
    out.rows_ = table_of(out.graph_, which);
    out.names_ = names;
    out.originals_.resize(names.size());
    if (graph.keeps_ids())
      return out;
    for (const auto& ends : out.rows_->edges->ends)
      for (const auto type : ends) {
        auto& originals = out.originals_[static_cast<std::size_t>(type)];
        if (!originals.empty())
          continue;
        GRAPHMILL_TRY(const auto order, graph.order(type));
        originals.resize(order.size());
        for (std::size_t id = 0; id < order.size(); ++id)
          originals[static_cast<std::size_t>(order[id])] =
            static_cast<node_id>(id);
      }
    return out;
  }

  std::size_t count() const { return static_cast<std::size_t>(rows_->rows()); }

  /// Source, destination and edge type.
  std::array<std::string, 3> texts(std::size_t edge) const {
    const auto row = static_cast<seed_row>(edge);
    const auto& info = graph_->info();
    return {name_of(0, row), name_of(1, row),
            info.edge_type_name(
              chosen_task(info)->edge_types[rows_->edges->relation(row)])};
  }

  /// In ticks, by row; empty: there are none.
  std::span<const std::int64_t> times() const { return rows_->times; }

private:
  std::string name_of(std::size_t end, seed_row row) const {
    const auto& column = rows_->columns[end];
    const auto type = static_cast<std::size_t>(column.type_of(row));
    const auto& originals = originals_[type];
    const auto node = column.node_of(row);
    const auto id =
      originals.empty() ? node : originals[static_cast<std::size_t>(node)];
    return names_[type] ? names_[type]->of(id) : std::to_string(id);
  }

  std::shared_ptr<const partitioned_graph> graph_;
  std::shared_ptr<const seed_table> rows_;
  std::span<const std::shared_ptr<const table_ids>> names_;
  /// By node type, original ids by global ones; empty: they are the same.
  std::vector<std::vector<node_id>> originals_;
};

/// The table of what was predicted.
class edge_table {
public:
  struct setting {
    const node_type_info& target;
    const task_traits& task;
    std::optional<threshold_choice> threshold;
    bool probabilities = false;
    bool logits = false;
    bool typed = false; ///< Edges are of several types.
    bool rows = false;  ///< They have positions in a split,
    std::span<const std::int64_t> times = {}; ///< and times, if not empty.
  };
  explicit edge_table(const setting& how) : set_(how) {}

  std::string header() const {
    std::string out = "source,destination";
    if (set_.typed)
      out += ",type";
    if (set_.task.one_class)
      out += set_.target.class_names.empty() ? ",class" : ",class,class_name";
    else if (set_.task.outcomes == outcome_form::ranks)
      out += ",score";
    else
      add_columns(set_.task.prediction.column, out);
    if (set_.probabilities)
      add_columns("probability_", out);
    if (set_.logits)
      add_columns("logit_", out);
    if (set_.rows)
      out += set_.times.empty() ? ",row" : ",row,time";
    return out + '\n';
  }

  void add(std::size_t row, const std::array<std::string, 3>& texts,
           std::int64_t chosen, std::span<const float> logits,
           std::string& out) const {
    out += csv_text(texts[0]) + ',' + csv_text(texts[1]);
    if (set_.typed)
      out += ',' + csv_text(texts[2]);
    if (set_.task.one_class) {
      fmt::format_to(std::back_inserter(out), ",{}", chosen);
      const auto& names = set_.target.class_names;
      if (!names.empty())
        out += ',' + csv_text(names[static_cast<std::size_t>(chosen)]);
    } else {
      for (std::size_t c = 0; c < logits.size(); ++c)
        if (set_.task.decides)
          out +=
            takes_label(static_cast<std::int64_t>(c), logits[c], set_.threshold)
              ? ",1"
              : ",0";
        else
          fmt::format_to(std::back_inserter(out), ",{}", logits[c]);
    }
    if (set_.probabilities)
      for (const auto one : probabilities_of(logits))
        fmt::format_to(std::back_inserter(out), ",{}", static_cast<float>(one));
    if (set_.logits)
      for (const auto one : logits)
        fmt::format_to(std::back_inserter(out), ",{}", one);
    if (set_.rows)
      fmt::format_to(std::back_inserter(out), ",{}", row);
    if (!set_.times.empty())
      fmt::format_to(std::back_inserter(out), ",{}", set_.times[row]);
    out += '\n';
  }

private:
  void add_columns(std::string_view name, std::string& out) const {
    for (std::int64_t c = 0; c < set_.target.class_count; ++c)
      fmt::format_to(std::back_inserter(out), ",{}{}", name, c);
  }

  std::vector<double> probabilities_of(std::span<const float> logits) const {
    if (set_.task.one_class)
      return softmax_of(logits);
    std::vector<double> out;
    for (const double logit : logits)
      out.push_back(1 / (1 + std::exp(-logit)));
    return out;
  }

  const setting set_;
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
                            usable_processors(), [&signals, &memory] {
                              memory.sample();
                              return signals.count() != 0;
                            }));
  outputs.take(std::move(logits));
  return ok();
}

/// @param config With its mode, and what to predict.
result<run_result> predict_batches(local_run_config& config, bool quiet,
                                   std::optional<signal_watch>& signals,
                                   edge_outputs& outputs) {
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
  // Other data may have other classes, or call them otherwise.
  GRAPHMILL_TRY(auto whole, partitioned_graph::open(config.data));
  if (config.learnt) {
    GRAPHMILL_TRY(whole, whole.with_unknown_labels(*config.learnt));
  }
  GRAPHMILL_TRY(const auto graph, choose_target(whole, config.def));
  const auto& info = graph.info();
  const auto rows = split_of(
    measured_split_named(request.split).value_or(measured_split::none));
  if (config.def.decoder.edge_features && !rows)
    return fail(ec::invalid_argument,
                "the decoder of run {} reads the features of the edges "
                "themselves (`decoder.edge_features`), and a list of pairs has "
                "none; predict the edges of a split, by --split test",
                in_quotes(config.def.name));
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto& task = task_of(target);
  if ((request.probabilities || request.logits) && !task.decides)
    return fail(ec::invalid_argument,
                "--{} is for classes, and the task of {} is about {}; leave it "
                "out",
                request.probabilities ? "probabilities" : "logits",
                in_quotes(info.name), task.outputs());
  GRAPHMILL_TRY(const auto threshold, threshold_in(run, info));
  std::vector<std::shared_ptr<const table_ids>> names;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    GRAPHMILL_TRY(auto of_type, table_ids::open(config.data, info,
                                                static_cast<node_type_id>(t)));
    names.push_back(std::move(of_type));
  }
  edge_list_file listed;
  edges_of_split own;
  if (rows) {
    GRAPHMILL_TRY(own, edges_of_split::open(graph, *rows, names));
    if (own.count() == 0)
      return fail(ec::invalid_argument,
                  "the task {} of {} has no edges in the split {}; `graphmill "
                  "inspect` shows how many there are in each",
                  in_quotes(config.def.task), in_quotes(info.name),
                  request.split);
  } else {
    GRAPHMILL_TRY(listed,
                  read_edge_list(request.edges, info, names, request.nodes_by));
  }
  const auto count = rows ? own.count() : listed.edges.size();
  GRAPHMILL_TRY(auto file, scratch_file::create(request.out));
  edge_outputs outputs{count};
  std::optional<opened_outputs> stored;
  if (!request.computes && !rows) {
    GRAPHMILL_TRY(stored, outputs_before(run, info));
  }
  const auto began = std::chrono::steady_clock::now();
  std::optional<signal_watch> signals; // Until all is written.
  run_result done;
  if (stored) {
    memory_probe memory;
    GRAPHMILL_TRYV(score(listed.edges, *stored, run, info, signals.emplace(),
                         memory, outputs));
    done.work.peak_memory_bytes = memory.peak_bytes();
    done.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began)
        .count();
  } else {
    if (rows) {
      go_over(run, *rows);
      config.outputs = true;
    } else {
      config.mode = run_mode::predict;
      config.edges = std::move(listed.edges);
    }
    GRAPHMILL_TRY(done,
                  predict_batches(config, request.quiet, signals, outputs));
  }
  if (threshold && task.one_class)
    apply_threshold(outputs.all(), *threshold, outputs.classes);
  const edge_table table{
    {.target = target,
     .task = task,
     .threshold = threshold,
     .probabilities = request.probabilities,
     .logits = request.logits,
     .typed = chosen_task(info)->edge_types.size() > 1,
     .rows = rows.has_value(),
     .times = rows ? own.times() : std::span<const std::int64_t>{}}};
  auto text = table.header();
  for (std::size_t i = 0; i < count; ++i)
    table.add(i, rows ? own.texts(i) : listed.texts[i], outputs.classes[i],
              outputs.of(i), text);
  GRAPHMILL_TRYV(
    write_all(file.fd(), std::as_bytes(std::span{text}), request.out));
  GRAPHMILL_TRYV(file.commit());
  if (request.json) {
    nlohmann::json told{{"edges", count},
                        {"other_dataset", run.other_dataset},
                        {"peak_memory_bytes", done.work.peak_memory_bytes},
                        {"predictions", request.out.string()},
                        {"seconds", done.seconds},
                        {"stored_embeddings", stored.has_value()},
                        {"threshold", threshold
                                        ? nlohmann::json(threshold->name)
                                        : nlohmann::json()}};
    if (rows)
      told["split"] = request.split;
    say("{}\n", one_line(told));
  } else {
    say("wrote the {} of {} to {}{}\n",
        task.outcomes == outcome_form::ranks ? "scores" : task.outputs(),
        pluralized(count, "edge"), request.out.string(),
        stored ? ", by the embeddings in the run's folder" : "");
    if (threshold)
      say("{}\n", threshold_line(*threshold, "edges"));
  }
  return ok();
}

} // namespace graphmill
