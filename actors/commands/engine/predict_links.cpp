#include "actors/commands/engine/predict_links.hpp"

#include "actors/commands/engine/prediction_files.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"
#include "actors/run/layerwise_run.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/model/layerwise/link_search.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// Lines that are put together before they are written.
constexpr std::size_t written_bytes = std::size_t{1} << 20;

/// How often progress is shown.
constexpr std::chrono::milliseconds shown_every{200};

/// An edge type of which links are found.
struct searched_type {
  std::int32_t relation = 0; ///< Place in the task's edge types.
  edge_type_id edge_type = 0;
  node_type_id asked = 0; ///< Of the nodes whose links are found,
  node_type_id found = 0; ///< and of those at the other end.
};

/// The edge types that a request asks for.
result<std::vector<searched_type>>
searched_types(const link_prediction_request& request,
               const dataset_info& info) {
  const auto& task = *chosen_task(info);
  std::vector<searched_type> out;
  const auto wanted = request.edge_type.empty()
                        ? std::optional<edge_type_id>{}
                        : info.find_edge_type(request.edge_type);
  for (std::size_t r = 0; r < task.edge_types.size(); ++r) {
    const auto type = task.edge_types[r];
    const auto& ends = info.edge_types[static_cast<std::size_t>(type)];
    if (request.edge_type.empty() || wanted == type)
      out.push_back({static_cast<std::int32_t>(r), type,
                     request.to_sources ? ends.destination : ends.source,
                     request.to_sources ? ends.source : ends.destination});
  }
  if (out.empty()) {
    std::string names;
    for (const auto type : task.edge_types)
      names += (names.empty() ? "" : ", ") + info.edge_type_name(type);
    return fail(ec::not_found,
                "--type: the task {} has no edge type {}, but {}",
                in_quotes(task.name), in_quotes(request.edge_type), names);
  }
  for (const auto& one : out) {
    const auto& found = info.node_types[static_cast<std::size_t>(one.found)];
    if (request.most > found.count)
      return fail(ec::invalid_argument,
                  "--top {}: there are only {} of type {} to find; ask for no "
                  "more",
                  request.most, pluralized(found.count, "node"),
                  in_quotes(found.name));
    if (!request.nodes.empty() && one.asked != out.front().asked)
      return fail(ec::invalid_argument,
                  "--nodes lists nodes of one type, and edges of the task {} "
                  "{} nodes of several; say with --type of which edge type "
                  "links are wanted",
                  in_quotes(task.name),
                  request.to_sources ? "end at" : "begin at");
  }
  return out;
}

/// The links that were found, as lines of a CSV.
class link_table {
public:
  /// @param names By node type; null: nodes have numbers alone.
  link_table(const dataset_info& info,
             std::span<const std::shared_ptr<const table_ids>> names,
             bool to_sources, const scratch_file& file)
    : info_(info), names_(names), to_sources_(to_sources), file_(file),
      typed_(chosen_task(info)->edge_types.size() > 1),
      text_(typed_ ? "source,destination,type,score,rank\n"
                   : "source,destination,score,rank\n") {}

  result<void> add(const searched_type& type, node_id asked,
                   std::span<const found_link> links) {
    const auto from = name_of(type.asked, asked);
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto to = name_of(type.found, links[i].node);
      text_ += to_sources_ ? to + ',' + from : from + ',' + to;
      if (typed_)
        text_ += ',' + csv_text(info_.edge_type_name(type.edge_type));
      fmt::format_to(std::back_inserter(text_), ",{},{}\n", links[i].score,
                     i + 1);
    }
    count_ += links.size();
    return text_.size() < written_bytes ? ok() : flush();
  }

  result<void> flush() {
    GRAPHMILL_TRYV(
      write_all(file_.fd(), std::as_bytes(std::span{text_}), file_.path()));
    text_.clear();
    return ok();
  }

  std::size_t count() const { return count_; }

private:
  std::string name_of(node_type_id type, node_id node) const {
    const auto& names = names_[static_cast<std::size_t>(type)];
    return names ? csv_text(names->of(node)) : std::to_string(node);
  }

  const dataset_info& info_;
  std::span<const std::shared_ptr<const table_ids>> names_;
  const bool to_sources_;
  const scratch_file& file_;
  const bool typed_;
  std::string text_;
  std::size_t count_ = 0; ///< Of links.
};

/// Searches once the outputs of all nodes are there. Borrows all.
class link_work {
public:
  /// @param listed Nodes of the type that is asked; none: all.
  link_work(const link_prediction_request& request,
            std::span<const searched_type> types,
            const std::vector<node_id>& listed, link_table& table,
            const progress_callback& on_progress)
    : request_(request), types_(types), listed_(listed), table_(table),
      on_progress_(on_progress) {}

  result<void> run(layerwise_model& model,
                   const layerwise_model::outcome& made) {
    for (const auto& type : types_)
      units_ += nodes_of(type, model.graph()) * model.graph().count(type.found);
    for (const auto& type : types_)
      GRAPHMILL_TRYV(search(type, model, made));
    return table_.flush();
  }

  std::int64_t nodes() const { return nodes_; }

private:
  std::int64_t nodes_of(const searched_type& type,
                        const original_graph& graph) const {
    return listed_.empty() ? graph.count(type.asked) : std::ssize(listed_);
  }

  result<void> search(const searched_type& type, layerwise_model& model,
                      const layerwise_model::outcome& made) {
    const auto outputs_of = [&](node_type_id of) {
      const auto& all = model.layout().outputs;
      return made
        .outputs[static_cast<std::size_t>(std::find(all.begin(), all.end(), of)
                                          - all.begin())]
        .view;
    };
    std::int64_t group = 0; ///< Nodes that are searched together.
    link_search finder{{.layout = &model.layout(),
                        .parameters = &model.parameters(),
                        .graph = &model.graph(),
                        .relation = type.relation,
                        .edge_type = type.edge_type,
                        .given = request_.to_sources ? query_side::destination
                                                     : query_side::source,
                        .queries = outputs_of(type.asked),
                        .candidates = outputs_of(type.found),
                        .most = request_.most,
                        .keeps_known = request_.keeps_known,
                        .team = &model.team(),
                        .pool = model.pool(),
                        .stopped = model.setting().stopped,
                        .on_block = [&](std::int64_t candidates) {
                          show(done_ + group * candidates);
                        }}};
    const auto all = nodes_of(type, model.graph());
    std::vector<node_id> nodes;
    for (std::int64_t begin = 0; begin < all; begin += group) {
      group = std::min(finder.most_queries(), all - begin);
      if (listed_.empty()) {
        nodes.resize(static_cast<std::size_t>(group));
        std::iota(nodes.begin(), nodes.end(), begin);
      } else {
        nodes.assign(listed_.begin() + begin, listed_.begin() + begin + group);
      }
      GRAPHMILL_TRY(const auto found, finder.find(nodes));
      for (std::size_t i = 0; i < found.size(); ++i)
        GRAPHMILL_TRYV(table_.add(type, nodes[i], found[i]));
      done_ += group * model.graph().count(type.found);
    }
    nodes_ += all;
    return ok();
  }

  void show(std::int64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_progress_ || now < next_)
      return;
    next_ = now + shown_every;
    on_progress_({"links", static_cast<std::uint64_t>(done),
                  static_cast<std::uint64_t>(units_)});
  }

  const link_prediction_request& request_;
  std::span<const searched_type> types_;
  const std::vector<node_id>& listed_;
  link_table& table_;
  const progress_callback& on_progress_;
  std::int64_t units_ = 0; ///< Pairs of nodes in all,
  std::int64_t done_ = 0;  ///< and of the groups that are finished.
  std::int64_t nodes_ = 0;
  std::chrono::steady_clock::time_point next_;
};

} // namespace

result<void> predict_links(const link_prediction_request& request,
                           finished_run& run) {
  auto& config = run.config;
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto graph, choose_target(whole, config.def));
  const auto& info = graph.info();
  const auto& task =
    task_of(info.node_types[static_cast<std::size_t>(info.target)]);
  if (task.outcomes != outcome_form::ranks)
    return fail(ec::invalid_argument,
                "--top ranks links, and the task {} is about {} of edges; list "
                "edges with --pairs",
                in_quotes(config.def.task), task.outputs());
  GRAPHMILL_TRY(const auto types, searched_types(request, info));
  std::vector<std::shared_ptr<const table_ids>> names;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    GRAPHMILL_TRY(auto of_type, table_ids::open(config.data, info,
                                                static_cast<node_type_id>(t)));
    names.push_back(std::move(of_type));
  }
  std::vector<node_id> listed;
  if (!request.nodes.empty()) {
    const auto asked = static_cast<std::size_t>(types.front().asked);
    GRAPHMILL_TRY(listed, read_node_list(request.nodes, info.node_types[asked],
                                         names[asked].get(), request.nodes_by));
  }
  GRAPHMILL_TRY(auto file, scratch_file::create(request.out));
  const auto on_progress = show_progress(request.quiet);
  link_table table{info, names, request.to_sources, file};
  link_work work{request, types, listed, table, on_progress};
  auto layers = layers_of(config, request.scratch, request.out, on_progress);
  if (!run.other_dataset && !request.computes)
    layers.outputs = run.folder.path();
  layers.use = [&work](layerwise_model& model,
                       const layerwise_model::outcome& made) {
    return work.run(model, made);
  };
  std::optional<signal_watch> signals; // Until all is written.
  GRAPHMILL_TRY(const auto done, run_layerwise(std::move(layers), signals));
  if (on_progress)
    on_progress({}); // What is written is told on lines of its own.
  GRAPHMILL_TRYV(file.commit());
  if (request.json)
    say("{}\n", one_line({{"links", table.count()},
                          {"nodes", work.nodes()},
                          {"other_dataset", run.other_dataset},
                          {"peak_memory_bytes", done.peak_memory_bytes},
                          {"predictions", request.out.string()},
                          {"scratch_bytes", done.made.file_bytes},
                          {"seconds", done.seconds},
                          {"stored_embeddings", done.stored.has_value()}}));
  else
    say("wrote {} of {} to {}{}\n", pluralized(table.count(), "link"),
        pluralized(work.nodes(), "node"), request.out.string(),
        done.stored ? ", by the embeddings in the run's folder" : "");
  return ok();
}

result<void> predict_outputs(const output_prediction_request& request,
                             finished_run& run) {
  auto& config = run.config;
  GRAPHMILL_TRY(const auto whole, partitioned_graph::open(config.data));
  GRAPHMILL_TRY(const auto graph, choose_target(whole, config.def));
  const auto& info = graph.info();
  std::vector<node_type_id> ends;
  for (const auto type : chosen_task(info)->edge_types) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    ends.insert(ends.end(), {about.source, about.destination});
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  prediction_request files{
    .out = request.out, .classes = false, .embeddings = request.types};
  if (files.embeddings.empty())
    for (const auto type : ends)
      files.embeddings.push_back(
        info.node_types[static_cast<std::size_t>(type)].name);
  prediction made;
  std::vector<std::size_t> places; // Of the types in `ends`.
  for (const auto& name : files.embeddings) {
    const auto type = info.find_node_type(name);
    const auto at =
      type ? std::find(ends.begin(), ends.end(), *type) : ends.end();
    if (at == ends.end())
      return fail(ec::not_found,
                  "--embeddings-of: no edge of the task {} begins or ends at "
                  "nodes of type {}",
                  in_quotes(config.def.task), in_quotes(name));
    places.push_back(static_cast<std::size_t>(at - ends.begin()));
    GRAPHMILL_TRY(auto names, table_ids::open(config.data, info, *type));
    made.embedding_names.push_back(std::move(names));
  }
  GRAPHMILL_TRY(auto written, prediction_files::create(files));
  const auto on_progress = show_progress(request.quiet);
  std::optional<signal_watch> signals; // Until all is written.
  GRAPHMILL_TRY(
    const auto done,
    run_layerwise(layers_of(config, request.scratch, request.out, on_progress),
                  signals));
  if (on_progress)
    on_progress({}); // What is written is told on lines of its own.
  for (const auto place : places)
    made.embeddings.push_back(done.made.outputs[place].view);
  GRAPHMILL_TRYV(written.write(made));
  nlohmann::json summary{{"other_dataset", run.other_dataset},
                         {"layer_by_layer", true},
                         {"peak_memory_bytes", done.peak_memory_bytes},
                         {"scratch_bytes", done.made.file_bytes},
                         {"seconds", done.seconds}};
  for (const auto& [name, path] : written.names()) {
    summary[name] = path;
    if (!request.json)
      say("wrote {} to {}\n", name, path);
  }
  if (request.json)
    say("{}\n", one_line(summary));
  return ok();
}

} // namespace graphmill
