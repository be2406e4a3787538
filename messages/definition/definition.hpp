#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/definition/definition_words.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// A pipeline definition as the code uses it: the plain-struct form of the
/// Cap'n Proto struct `Definition` in definition.capnp, which is the one source
/// of names, defaults, ranges, units and help. Value type.
///
/// `fields` of each section is the list of them: it calls `visit` with the name
/// in the schema and the field, in the schema's order. `of` is the section.
struct definition {
  std::string name;
  std::string dataset; ///< Name of the dataset; `--data` gives its folder.
  std::uint64_t seed = 0;

  struct sampler_section {
    std::vector<std::int32_t> fanouts; ///< Per hop, nearest the seeds first.
    /// Per edge type (full name); overrides `fanouts`.
    std::map<std::string, std::vector<std::int32_t>> edge_fanouts;
    bool replace = false;
    std::uint32_t replicas = 0;
    std::uint32_t threads = 0; ///< Sampling threads per part.
    sampling_method method = sampling_method::uniform;
    time_use time = time_use::none;
    bool latest = false;      ///< Instead of drawing.
    std::uint64_t window = 0; ///< Seconds, or steps; 0: no limit.
    bool disjoint = false;    ///< A tree of each row.
    subgraph_kind subgraph = subgraph_kind::directional;
    std::uint32_t walks = 0;       ///< From each node.
    std::uint32_t walk_length = 0; ///< Steps, at the most.
    double restart = 0;            ///< Chance that a walk ends before a step.

    /// Whether seeds see their past alone.
    bool is_timed() const {
      return time == time_use::strict || time == time_use::inclusive;
    }

    /// How neighbours are drawn, from all fields together.
    draw_kind kind() const {
      switch (method) {
      case sampling_method::uniform:
        break;
      case sampling_method::weighted:
        return replace ? draw_kind::weighted_with_replacement
                       : draw_kind::weighted_without_replacement;
      case sampling_method::labor: // `replace` is refused.
        return draw_kind::labor;
      case sampling_method::pinsage: // Likewise; owners draw uniformly.
      case sampling_method::hgt:
      case sampling_method::saint:
        break;
      }
      return replace ? draw_kind::with_replacement
                     : draw_kind::without_replacement;
    }

    static void fields(auto& of, auto visit) {
      visit("fanouts", of.fanouts);
      visit("edgeFanouts", of.edge_fanouts);
      visit("replace", of.replace);
      visit("replicas", of.replicas);
      visit("threads", of.threads);
      visit("method", of.method);
      visit("time", of.time);
      visit("latest", of.latest);
      visit("window", of.window);
      visit("disjoint", of.disjoint);
      visit("subgraph", of.subgraph);
      visit("walks", of.walks);
      visit("walkLength", of.walk_length);
      visit("restart", of.restart);
    }

    friend bool operator==(const sampler_section&,
                           const sampler_section&) = default;
  } sampler;

  struct fetch_section {
    std::uint32_t replicas = 0;
    std::uint32_t threads = 0; ///< Feature-service threads per part.
    /// float16 rounds every row, from any place.
    feature_precision precision = feature_precision::float32;
    std::uint64_t cache = 0; ///< Bytes of remote rows per daemon; 0 = none.
    graphmill::cache_order cache_order = graphmill::cache_order::vip;
    double verify = 0; ///< Share of values from other daemons that is checked.

    static void fields(auto& of, auto visit) {
      visit("replicas", of.replicas);
      visit("threads", of.threads);
      visit("precision", of.precision);
      visit("cache", of.cache);
      visit("cacheOrder", of.cache_order);
      visit("verify", of.verify);
    }

    friend bool operator==(const fetch_section&,
                           const fetch_section&) = default;
  } fetch;

  struct model_section {
    model_kind kind = model_kind::sage;
    std::uint32_t hidden = 0;
    std::uint32_t heads = 0; ///< Kinds with attention only.
    double dropout = 0;
    std::uint32_t embedding = 0; ///< Width for node types without features.
    bool layer_norm = false;     ///< Between layers.
    /// File of initial weights; empty: random weights.
    std::string weights = {};
    bool residual = false; ///< Layers add their input to their output.
    bool jumping = false;  ///< The outputs of all layers give the logits.
    double embedding_scale =
      0.01; ///< Approximate initial length of their rows.
    std::uint32_t output_heads = 0; ///< Of the last layer; 0: as `heads`.
    double attention_dropout = 0;
    bool attention_residual = false;
    double message_dropout = 0; ///< Of the rows that attention sums.
    edge_weight_use edge_weights = edge_weight_use::use;
    relation_use relations = relation_use::sum; ///< rgcn and hetero_sage only.
    std::uint32_t width =
      0; ///< Of a node's output for tasks of edges; 0: hidden.
    std::uint32_t bases = 0; ///< Of rgcn; 0: a matrix of each edge type.
    edge_feature_use edge_features = edge_feature_use::use; ///< By layers.
    edge_age_use edge_ages = edge_age_use::none;            ///< Likewise.
    double age_unit = 1; ///< Seconds, or steps, that ages are divided by.
    std::uint32_t age_width = 16; ///< Columns; of `edge_age_use::cosine`.

    static void fields(auto& of, auto visit) {
      visit("kind", of.kind);
      visit("hidden", of.hidden);
      visit("heads", of.heads);
      visit("dropout", of.dropout);
      visit("embedding", of.embedding);
      visit("layerNorm", of.layer_norm);
      visit("weights", of.weights);
      visit("residual", of.residual);
      visit("jumping", of.jumping);
      visit("embeddingScale", of.embedding_scale);
      visit("outputHeads", of.output_heads);
      visit("attentionDropout", of.attention_dropout);
      visit("attentionResidual", of.attention_residual);
      visit("messageDropout", of.message_dropout);
      visit("edgeWeights", of.edge_weights);
      visit("relations", of.relations);
      visit("width", of.width);
      visit("bases", of.bases);
      visit("edgeFeatures", of.edge_features);
      visit("edgeAges", of.edge_ages);
      visit("ageUnit", of.age_unit);
      visit("ageWidth", of.age_width);
    }

    friend bool operator==(const model_section&,
                           const model_section&) = default;
  } model;

  struct trainer_section {
    std::uint32_t replicas = 0; ///< The largest number, if there is a smallest.
    /// Compute threads per replica; 0: a share of the processors.
    std::uint32_t threads = 0;
    std::string device; ///< "cpu", "cuda", "cuda:0", ...
    /// Seconds that a trainer waits for the others in a step.
    std::uint32_t step_timeout = 0;
    std::uint32_t min_replicas = 0; ///< 0: exactly `replicas`.
    /// Where their number changes; see `trainer_sizes.hpp`. Empty: `replicas`
    /// decides.
    std::vector<std::string> sizes = {};

    /// Whether their number may change in a run.
    bool is_elastic() const { return min_replicas != 0 || !sizes.empty(); }
    /// Whether the present daemons decide it.
    bool is_open() const { return min_replicas != 0 && sizes.empty(); }

    static void fields(auto& of, auto visit) {
      visit("replicas", of.replicas);
      visit("threads", of.threads);
      visit("device", of.device);
      visit("stepTimeout", of.step_timeout);
      visit("minReplicas", of.min_replicas);
      visit("sizes", of.sizes);
    }

    friend bool operator==(const trainer_section&,
                           const trainer_section&) = default;
  } trainer;

  struct optimizer_section {
    optimizer_kind kind = optimizer_kind::adam;
    double learning_rate = 0;
    double weight_decay = 0;
    double momentum = 0; ///< SGD only.
    schedule_kind schedule = schedule_kind::constant;
    std::uint32_t warmup_epochs = 0;
    std::uint32_t step_epochs = 0; ///< schedule step: epochs between decays.
    double step_factor = 0;        ///< schedule step: what to multiply by.
    graphmill::decayed_layers decay_layers = graphmill::decayed_layers::all;
    bool decay_biases = true;   ///< Norms, too.
    double embedding_decay = 0; ///< Of all rows of tables, per step.
    double clip_norm = 0;       ///< 0: gradients stay as they are.

    static void fields(auto& of, auto visit) {
      visit("kind", of.kind);
      visit("learningRate", of.learning_rate);
      visit("weightDecay", of.weight_decay);
      visit("momentum", of.momentum);
      visit("schedule", of.schedule);
      visit("warmupEpochs", of.warmup_epochs);
      visit("stepEpochs", of.step_epochs);
      visit("stepFactor", of.step_factor);
      visit("decayLayers", of.decay_layers);
      visit("decayBiases", of.decay_biases);
      visit("embeddingDecay", of.embedding_decay);
      visit("clipNorm", of.clip_norm);
    }

    friend bool operator==(const optimizer_section&,
                           const optimizer_section&) = default;
  } optimizer;

  struct train_section {
    std::uint32_t batch_size = 0; ///< Seeds per global step, over all ranks.
    std::uint32_t epochs = 0;
    std::uint32_t max_steps = 0; ///< Over all epochs; 0 = no limit.
    graphmill::seed_order seed_order = graphmill::seed_order::local;
    std::uint32_t patience = 0;   ///< Evaluations without gain; 0 = never stop.
    bool record_steps = false;    ///< With their seeds, to steps.jsonl.
    std::uint32_t min_epochs = 0; ///< Before patience counts.
    double label_smoothing = 0;
    bool balance_classes = false; ///< Instead of `class_weights`.
    /// Per class; empty: equal weights.
    std::vector<double> class_weights = {};
    value_loss loss = value_loss::mse; ///< For labels that are numbers.
    std::uint32_t patience_window = 1; ///< Validations that are averaged.
    /// By class name or number; other classes weigh 1. Instead of
    /// `class_weights`.
    std::map<std::string, double> named_class_weights = {};
    double focal_gamma = 0; ///< 0: plain cross-entropy.
    graphmill::link_loss link_loss = graphmill::link_loss::bce;
    double margin = 1;                   ///< Of two losses of links.
    double temperature = 1;              ///< Of one of them.
    exclusion exclude = exclusion::pair; ///< Of links.
    bool shuffle = true;                 ///< Else seeds keep their order.

    static void fields(auto& of, auto visit) {
      visit("batchSize", of.batch_size);
      visit("epochs", of.epochs);
      visit("maxSteps", of.max_steps);
      visit("seedOrder", of.seed_order);
      visit("patience", of.patience);
      visit("recordSteps", of.record_steps);
      visit("minEpochs", of.min_epochs);
      visit("labelSmoothing", of.label_smoothing);
      visit("balanceClasses", of.balance_classes);
      visit("classWeights", of.class_weights);
      visit("loss", of.loss);
      visit("patienceWindow", of.patience_window);
      visit("namedClassWeights", of.named_class_weights);
      visit("focalGamma", of.focal_gamma);
      visit("linkLoss", of.link_loss);
      visit("margin", of.margin);
      visit("temperature", of.temperature);
      visit("exclude", of.exclude);
      visit("shuffle", of.shuffle);
    }

    friend bool operator==(const train_section&,
                           const train_section&) = default;
  } train;

  struct evaluate_section {
    neighbour_use neighbours = neighbour_use::sampled;
    std::uint32_t batch_size = 0;
    std::uint32_t every = 0; ///< Epochs between validations.
    /// Of validations; chooses the best epoch.
    evaluation_metric metric = evaluation_metric::accuracy;
    bool scores = false; ///< Compute metrics that need the scores of all seeds.
    bool predict = false; ///< Of all nodes; trains nothing.
    measured_split only = measured_split::none; ///< Trains nothing, either.
    std::string metric_detail = {};             ///< See `metric_choice`.
    std::string threshold = {};    ///< See `threshold_choice`; empty: none.
    std::uint32_t negatives = 100; ///< Drawn for each edge of a link task.
    visible_edges visible = visible_edges::training;

    /// Whether the scores of seeds are collected.
    bool brings_scores() const {
      return scores || !threshold.empty() || takes_scores(metric);
    }

    static void fields(auto& of, auto visit) {
      visit("neighbours", of.neighbours);
      visit("batchSize", of.batch_size);
      visit("every", of.every);
      visit("metric", of.metric);
      visit("scores", of.scores);
      visit("predict", of.predict);
      visit("only", of.only);
      visit("metricDetail", of.metric_detail);
      visit("threshold", of.threshold);
      visit("negatives", of.negatives);
      visit("visible", of.visible);
    }

    friend bool operator==(const evaluate_section&,
                           const evaluate_section&) = default;
  } evaluate;

  struct budget_section {
    std::uint64_t bytes = 0;   ///< Of batches in flight, per daemon.
    std::uint32_t batches = 0; ///< In flight, per trainer.

    static void fields(auto& of, auto visit) {
      visit("bytes", of.bytes);
      visit("batches", of.batches);
    }

    friend bool operator==(const budget_section&,
                           const budget_section&) = default;
  } budget;

  /// Faults on purpose, to prove that results do not change.
  struct faults_section {
    std::uint32_t reply_delay_ms = 0; ///< Replies late by up to this, shuffled.
    std::uint32_t trainer_delay_ms = 0; ///< Each step slower by this.
    std::uint32_t crash_every = 0; ///< Each n-th job of a pool ends its actor.
    /// Each job of the pool slower by this, and each sum of gradients.
    std::uint32_t sampling_service_delay_ms = 0;
    std::uint32_t sampler_delay_ms = 0;
    std::uint32_t feature_service_delay_ms = 0;
    std::uint32_t fetcher_delay_ms = 0;
    std::uint32_t batcher_delay_ms = 0;
    std::uint32_t exchange_delay_ms = 0;
    std::vector<std::string> daemons; ///< That have them; empty: all.

    static void fields(auto& of, auto visit) {
      visit("replyDelayMs", of.reply_delay_ms);
      visit("trainerDelayMs", of.trainer_delay_ms);
      visit("crashEvery", of.crash_every);
      visit("samplingServiceDelayMs", of.sampling_service_delay_ms);
      visit("samplerDelayMs", of.sampler_delay_ms);
      visit("featureServiceDelayMs", of.feature_service_delay_ms);
      visit("fetcherDelayMs", of.fetcher_delay_ms);
      visit("batcherDelayMs", of.batcher_delay_ms);
      visit("exchangeDelayMs", of.exchange_delay_ms);
      visit("daemons", of.daemons);
    }

    friend bool operator==(const faults_section&,
                           const faults_section&) = default;
  } faults;

  /// Where a cluster runs what, by names of daemons. Changes no result; ignored
  /// in one process.
  struct placement_section {
    std::vector<std::string> trainers; ///< Empty: near the parts.
    std::vector<std::string> samplers; ///< Empty: beside the trainers.
    std::uint32_t owners = 1;          ///< Daemons that serve each part.
    /// The only daemons that it may use; empty: all.
    std::vector<std::string> daemons{};

    static void fields(auto& of, auto visit) {
      visit("trainers", of.trainers);
      visit("samplers", of.samplers);
      visit("owners", of.owners);
      visit("daemons", of.daemons);
    }

    friend bool operator==(const placement_section&,
                           const placement_section&) = default;
  } placement;

  /// When a run writes a checkpoint, besides those after each epoch. Changes no
  /// result.
  struct checkpoint_section {
    std::uint32_t every_steps = 0;   ///< 0: not by steps.
    std::uint32_t every_minutes = 0; ///< 0: not by time.
    std::uint32_t keep = 0;          ///< The newest ones; 0: write none.

    static void fields(auto& of, auto visit) {
      visit("everySteps", of.every_steps);
      visit("everyMinutes", of.every_minutes);
      visit("keep", of.keep);
    }

    friend bool operator==(const checkpoint_section&,
                           const checkpoint_section&) = default;
  } checkpoint;

  /// What a run on a cluster does when it loses a daemon. Changes no result.
  struct recovery_section {
    std::uint32_t wait = 0; ///< Seconds for another attempt; 0: the run ends.
    std::uint32_t attempts = 1; ///< In a row without a trained step.

    static void fields(auto& of, auto visit) {
      visit("wait", of.wait);
      visit("attempts", of.attempts);
    }

    friend bool operator==(const recovery_section&,
                           const recovery_section&) = default;
  } recovery;

  std::string labels; ///< A label set of the target; empty: its own labels.
  std::string task;   ///< A task of edges; empty: nodes. Not with `labels`.

  /// Of tasks of edges: what makes a score of two nodes.
  struct decoder_section {
    decoder_kind kind = decoder_kind::dot;
    std::uint32_t hidden = 0;   ///< Inside of mlp; 0: as a node's output.
    std::uint32_t norm = 1;     ///< Of transe: 1 or 2.
    bool edge_features = false; ///< Also reads those of the edge itself.

    static void fields(auto& of, auto visit) {
      visit("kind", of.kind);
      visit("hidden", of.hidden);
      visit("norm", of.norm);
      visit("edgeFeatures", of.edge_features);
    }

    friend bool operator==(const decoder_section&,
                           const decoder_section&) = default;
  } decoder;

  /// Of link tasks, in training.
  struct negatives_section {
    negative_kind kind = negative_kind::per_edge;
    std::uint32_t count = 1; ///< Of each edge, or step; of each corrupted end.
    corrupted_end corrupt = corrupted_end::destination;
    negative_weight weight = negative_weight::uniform;

    static void fields(auto& of, auto visit) {
      visit("kind", of.kind);
      visit("count", of.count);
      visit("corrupt", of.corrupt);
      visit("weight", of.weight);
    }

    friend bool operator==(const negatives_section&,
                           const negatives_section&) = default;
  } negatives;

  static void fields(auto& of, auto visit) {
    visit("name", of.name);
    visit("dataset", of.dataset);
    visit("seed", of.seed);
    visit("sampler", of.sampler);
    visit("fetch", of.fetch);
    visit("model", of.model);
    visit("trainer", of.trainer);
    visit("optimizer", of.optimizer);
    visit("train", of.train);
    visit("evaluate", of.evaluate);
    visit("budget", of.budget);
    visit("faults", of.faults);
    visit("placement", of.placement);
    visit("checkpoint", of.checkpoint);
    visit("recovery", of.recovery);
    visit("labels", of.labels);
    visit("task", of.task);
    visit("decoder", of.decoder);
    visit("negatives", of.negatives);
  }

  friend bool operator==(const definition&, const definition&) = default;
};

/// Whether every feature row is rounded to float16.
inline bool rounds_features(const definition& def) {
  return def.fetch.precision == feature_precision::float16;
}

/// Whether a run uses its initial weights and trains nothing.
inline bool trains_nothing(const definition& def) {
  return def.evaluate.predict || def.evaluate.only != measured_split::none;
}

/// Whether the members of a run must exchange something before it starts: rows
/// to cache or, for predictions, the order of nodes.
inline bool has_to_fill(const definition& def) {
  return def.fetch.cache != 0 || def.evaluate.predict;
}

/// Number of hops, and so of model layers.
inline int hops(const definition& def) {
  return static_cast<int>(def.sampler.fanouts.size());
}

} // namespace graphmill
