#include "pipelines/definition/validation/time_checks.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/task_checks.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/task/ranked_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

/// What the checks work on.
struct checked_times {
  const definition& def;
  const dataset_info& info;
  const edge_task_info* task; ///< Null: nodes are learnt.
  std::vector<std::pair<std::string, std::string>>& problems;
  bool feeding; ///< The model, and what is shuffled, are decided elsewhere.

  void report(const char* path, std::string text) const {
    problems.emplace_back(path, std::move(text));
  }
  std::string data() const { return in_quotes(info.name); }
};

/// Fields that mean nothing unless seeds see their past alone.
void refuse_without_time(const checked_times& c) {
  const auto& sampler = c.def.sampler;
  const auto refuse = [&c](const char* path, bool given) {
    if (given)
      c.report(path,
               fmt::format("`{}` is for `sampler.time: strict` or "
                           "`inclusive`; say one of them, or leave it out",
                           path));
  };
  if (c.def.evaluate.visible != visible_edges::training)
    c.report(
      "evaluate.visible",
      "`evaluate.visible: past` is for `sampler.time: strict`; say that, "
      "or leave it out");
  refuse("sampler.latest", sampler.latest);
  refuse("sampler.window", sampler.window != 0);
  refuse("sampler.disjoint", sampler.disjoint);
}

void check_rows(const checked_times& c) {
  const auto& target =
    c.info.node_types[static_cast<std::size_t>(c.info.target)];
  if (c.task != nullptr && !(c.task->timed && has_edge_times(c.info, *c.task)))
    c.report("sampler.time",
             fmt::format("`sampler.time` needs the time of each row, and task "
                         "{} of {} has none; import its edges with times "
                         "(--edge-time COLUMN)",
                         in_quotes(c.task->name), c.data()));
  // Seeds of a loader may be of another type, and the loader looks at that.
  if (c.task == nullptr && !target.timed && !c.feeding)
    c.report(
      "sampler.time",
      fmt::format("`sampler.time` needs the time of each seed, and nodes "
                  "of type {} of {} have none; import them with times "
                  "(--node-time COLUMN)",
                  in_quotes(target.name), c.data()));
}

void check_drawing(const checked_times& c) {
  const auto& sampler = c.def.sampler;
  if (sampler.latest && sampler.replace)
    c.report("sampler.latest",
             "`sampler.latest` takes the last edges, and `sampler.replace` "
             "draws with replacement; leave out one of them");
  if (sampler.latest && sampler.method != sampling_method::uniform)
    c.report("sampler.latest",
             "`sampler.latest` takes the last edges, and `sampler.method` "
             "chooses others; leave out one of them");
  if (sampler.latest && c.def.evaluate.neighbours == neighbour_use::all)
    c.report("evaluate.neighbours",
             "`evaluate.neighbours: all` takes all edges before a row, and "
             "`sampler.latest` the last ones; leave out one of them");
  if (sampler.disjoint && sampler.method >= sampling_method::labor)
    c.report("sampler.method",
             "`sampler.method` lets rows share neighbours, and with "
             "`sampler.disjoint` they share none; leave out one of them");
  if (c.feeding)
    return;
  if (!sampler.disjoint && c.def.train.shuffle && !trains_nothing(c.def))
    c.report(
      "train.shuffle",
      "with `sampler.time` and without `sampler.disjoint`, all rows of a "
      "step see what was before the earliest of them, of which "
      "shuffling would leave little: set `train.shuffle: false`, or "
      "`sampler.disjoint: true`");
  if (traits_of(c.def.model.kind).needs_degrees())
    c.report("model.kind",
             fmt::format("{} divides by degrees, which change with time, and "
                         "takes no `sampler.time`; use another kind, such as "
                         "sage",
                         traits_of(c.def.model.kind).name));
}

void check_visible(const checked_times& c) {
  if (c.def.evaluate.visible == visible_edges::training)
    return;
  if (c.task == nullptr)
    c.report("evaluate.visible",
             "`evaluate.visible` is for tasks of edges, and nodes are learnt; "
             "leave it out");
  else if (c.def.sampler.time != time_use::strict)
    c.report("evaluate.visible",
             "`evaluate.visible: past` lets rows see edges that are held "
             "out, and with `sampler.time: inclusive` themselves; set "
             "`sampler.time: strict`");
}

void check_negatives(const checked_times& c) {
  if (c.task == nullptr || !traits_of(c.task->kind).negatives)
    return;
  const auto& negatives = c.def.negatives;
  const auto all = ends_ranked_among_all(c.def, c.info, *c.task);
  const auto ranks_all = all[0] || all[1];
  if (c.def.sampler.disjoint && negatives.kind == negative_kind::joint)
    c.report("negatives.kind",
             "`negatives.kind: joint` shares negatives among rows, and with "
             "`sampler.disjoint` each row has a tree of its own; use per_edge");
  if (c.def.sampler.disjoint && ranks_all)
    c.report("evaluate.negatives",
             "`evaluate.negatives` ranks all nodes, and with "
             "`sampler.disjoint` each row would have a tree of all of them; "
             "make it a smaller number than there are nodes, such as 100");
  const auto is_timed = [&c](node_type_id type) {
    return c.info.node_types[static_cast<std::size_t>(type)].timed;
  };
  if (std::ranges::none_of(c.task->edge_types, [&](edge_type_id type) {
        const auto& ends = c.info.edge_types[static_cast<std::size_t>(type)];
        return is_timed(ends.source) || is_timed(ends.destination);
      }))
    return;
  const auto refuse = [&c](const char* path, std::string_view value,
                           std::string_view remedy) {
    c.report(path, fmt::format("`{}: {}` takes all nodes, and those of {} have "
                               "times, before which they are no negatives; {}",
                               path, value, c.data(), remedy));
  };
  if (negatives.kind == negative_kind::joint)
    refuse("negatives.kind", "joint", "use per_edge");
  if (negatives.corrupt == corrupted_end::pair)
    refuse("negatives.corrupt", "pair", "use destination, source or both");
  if (negatives.weight == negative_weight::degree)
    refuse("negatives.weight", "degree", "use uniform");
  if (ranks_all)
    refuse("evaluate.negatives", "all",
           "make it a smaller number than there are nodes, such as 100");
}

} // namespace

time_rule time_rule_of(const definition& def, const dataset_info& info) {
  time_rule out;
  if (!def.sampler.is_timed())
    return out;
  out.used = true;
  out.inclusive = def.sampler.time == time_use::inclusive;
  out.latest = def.sampler.latest;
  out.disjoint = def.sampler.disjoint;
  if (__builtin_mul_overflow(def.sampler.window, info.ticks_per_second,
                             &out.window))
    out.window = std::numeric_limits<std::int64_t>::max();
  return out;
}

result<void> check_named_pairs(const definition& def) {
  if (!def.sampler.is_timed())
    return ok();
  if (def.model.edge_ages != edge_age_use::none)
    return fail(ec::invalid_argument,
                "pairs that are named have no time, so that edges have no ages "
                "for them, which `model.edge_ages` reads: predict the edges of "
                "a split (--split), which have times");
  if (def.sampler.window == 0)
    return ok();
  return fail(
    ec::invalid_argument,
    "pairs that are named have no time, and with `sampler.window` they "
    "would see nothing: predict the edges of a split (--split), "
    "which have times, or train without `sampler.window`");
}

result<void> check_visible_past(const definition& def, const shard& part) {
  if (def.evaluate.visible != visible_edges::past)
    return ok();
  const auto& info = part.info();
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e) {
    const auto& edges = part.edges(e);
    const auto& nodes =
      part.nodes(info.edge_types[static_cast<std::size_t>(e)].destination);
    const auto row = first_overlap(edges.indptr, edges.times, edges.visible);
    if (!row)
      continue;
    return fail(ec::invalid_argument,
                "`evaluate.visible: past` trains on tasks that are split by "
                "time, and an edge of type {} to node {} that {} holds out is "
                "older than another one. If the dataset has grown, `graphmill "
                "append DATASET --roll-forward` makes all earlier rows "
                "training rows. If not, import it with --by time for each task "
                "of these edges, and put edges without a label into the test "
                "split, for in no split they count as training; or leave "
                "`evaluate.visible` out",
                in_quotes(info.edge_type_name(e)),
                nodes.original(nodes.begin + static_cast<node_id>(*row)),
                in_quotes(info.name));
  }
  return ok();
}

result<std::int64_t> count_early_rows(const definition& def,
                                      const partitioned_graph& graph,
                                      split which) {
  if (def.evaluate.visible != visible_edges::past || which == split::train
      || !graph.task())
    return 0;
  const auto& about = *chosen_task(graph.info());
  const auto& measured = graph.task()->splits[static_cast<std::size_t>(which)];
  const auto kind = traits_of(about.kind).labels;
  const auto is_measured = [&](std::size_t row) {
    return !kind || !measured->labels
           || is_known(*kind, about.class_count, *measured->labels, row);
  };
  const auto times_of = [&graph](split one) -> result<std::span<const double>> {
    const auto& rows = graph.task()->splits[static_cast<std::size_t>(one)];
    if (!rows || !rows->times)
      return std::span<const double>{};
    return rows->times->as<double>();
  };
  GRAPHMILL_TRY(const auto learnt, times_of(split::train));
  GRAPHMILL_TRY(const auto held, times_of(which));
  if (learnt.empty())
    return 0;
  const auto last = *std::ranges::max_element(learnt);
  std::int64_t out = 0;
  for (std::size_t row = 0; row < held.size(); ++row)
    out += held[row] < last && is_measured(row) ? 1 : 0;
  return out;
}

std::vector<std::pair<std::string, std::string>>
problems_with_times(const definition& def, const dataset_info& info,
                    bool feeding) {
  std::vector<std::pair<std::string, std::string>> out;
  const checked_times c{def, info, chosen_task(info), out, feeding};
  const auto timed =
    std::ranges::any_of(info.edge_types, &edge_type_info::timed);
  if (def.sampler.time != time_use::none && !timed)
    c.report("sampler.time",
             fmt::format("`sampler.time` is for edges with times, and {} has "
                         "none; leave it out, or import times (--edge-time "
                         "COLUMN)",
                         c.data()));
  if (!def.sampler.is_timed()) {
    refuse_without_time(c);
    if (timed && def.sampler.time == time_use::none
        && (feeding || traits_of(def.model.kind).hears()))
      c.report(
        "sampler.time",
        fmt::format("edges of {} have times: say `sampler.time: strict`, "
                    "so that a seed sees its past alone, "
                    "`inclusive`, or `ignore`",
                    c.data()));
    return out;
  }
  if (!feeding && !traits_of(def.model.kind).hears()) {
    c.report(
      "sampler.time",
      fmt::format("`sampler.time` is for kinds that hear neighbours, and "
                  "{} does not; say `ignore`",
                  traits_of(def.model.kind).name));
    return out;
  }
  if (!timed)
    return out;
  check_rows(c);
  check_drawing(c);
  check_visible(c);
  check_negatives(c);
  return out;
}

} // namespace graphmill
