#include "pipelines/definition/definition_checks.hpp"

#include "pipelines/definition/decoder_words.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

void check_name(definition_source& source, const std::string& path,
                const std::string& name) {
  const auto good = !name.empty() && name.front() != '.'
                    && std::all_of(name.begin(), name.end(), is_name_character);
  if (!good && source.usable(path))
    source.report(
      source.where(path),
      fmt::format("`{}` is {}, must be made of letters, digits, '.', '_' "
                  "and '-', and not begin with '.'",
                  path, in_quotes(name)));
}

/// A field, and whether it says something other than its default.
using given_field = std::pair<std::string, bool>;

/// Refuses fields that nothing would take notice of.
/// @param whom What takes notice of them.
void refuse_given(definition_source& source,
                  std::initializer_list<given_field> fields,
                  std::string_view whom) {
  for (const auto& [path, given] : fields)
    if (given && source.usable(path))
      source.report(source.where(path),
                    fmt::format("`{}` is for {}; leave it out", path, whom));
}

bool is_device(std::string_view name) {
  if (name == "cpu" || name == "cuda")
    return true;
  constexpr std::string_view prefix = "cuda:";
  if (!name.starts_with(prefix))
    return false;
  const auto index = name.substr(prefix.size());
  return !index.empty() && index.size() <= 2
         && index.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_device(definition_source& source) {
  const auto& device = source.value.trainer.device;
  if (!is_device(device) && source.usable("trainer.device"))
    source.report(source.where("trainer.device"),
                  fmt::format("`trainer.device` is {}, must be cpu, cuda or "
                              "cuda:N",
                              in_quotes(device)));
}

void check_range(definition_source& source) {
  const auto& trainer = source.value.trainer;
  if (trainer.min_replicas > trainer.replicas
      && source.usable("trainer.replicas"))
    source.report(source.where("trainer.replicas"),
                  fmt::format("`trainer.replicas` has the min {}, which is "
                              "more than its max, {}",
                              trainer.min_replicas, trainer.replicas));
}

/// What is wrong with an entry of `trainer.sizes`; empty if nothing is.
/// @param before The point of the one before it, if there is one.
std::string wrong_size(const definition& def, const std::string& text,
                       const std::optional<run_point>& before) {
  const auto& trainer = def.trainer;
  const auto least =
    trainer.min_replicas != 0 ? trainer.min_replicas : trainer.replicas;
  const auto change = parse_size_change(text);
  if (!change)
    return "must be EPOCHS/STEPS:TRAINERS, as in 3/17:1";
  if (!before && change->at != run_point{})
    return "must begin with 0/0, for it is the first one";
  if (before && change->at <= *before)
    return "must be behind the entry before it";
  if (change->replicas < least || change->replicas > trainer.replicas)
    return fmt::format("must have from {} to {} trainers, as "
                       "`trainer.replicas` says",
                       least, trainer.replicas);
  return "";
}

void check_sizes(definition_source& source) {
  if (!source.usable("trainer.sizes") || !source.usable("trainer.replicas"))
    return;
  std::optional<run_point> before;
  for (const auto& text : source.value.trainer.sizes) {
    const auto wrong = wrong_size(source.value, text, before);
    if (!wrong.empty()) {
      source.report(source.where("trainer.sizes"),
                    fmt::format("`trainer.sizes` has the element {}, which {}",
                                in_quotes(text), wrong));
      return; // Those behind it may be right but for this one.
    }
    before = parse_size_change(text)->at;
  }
}

void check_fanouts(definition_source& source) {
  const auto& sampler = source.value.sampler;
  if (!source.usable("sampler.fanouts"))
    return;
  for (const auto& [key, values] : sampler.edge_fanouts) {
    const auto path = "sampler.fanouts." + key;
    if (values.size() == sampler.fanouts.size() || !source.usable(path))
      continue;
    source.report(source.where(path),
                  fmt::format("the fanouts of {} are for {} hops, those of "
                              "`default` for {}",
                              in_quotes(key), values.size(),
                              sampler.fanouts.size()));
  }
}

std::string_view word_of(sampling_method method) {
  switch (method) {
  case sampling_method::uniform:
    return "uniform";
  case sampling_method::weighted:
    return "weighted";
  case sampling_method::labor:
    return "labor";
  case sampling_method::pinsage:
    return "pinsage";
  case sampling_method::hgt:
    return "hgt";
  case sampling_method::saint:
    return "saint";
  }
  return "";
}

/// Whether some fanout, of any hop and type, is one that does not fit.
template <class Fits>
bool has_other_fanouts(const definition& def, Fits fits) {
  const auto all_fit = [fits](const std::vector<std::int32_t>& fanouts) {
    return std::ranges::all_of(fanouts, fits);
  };
  return !all_fit(def.sampler.fanouts)
         || !std::ranges::all_of(
           def.sampler.edge_fanouts,
           [all_fit](const auto& of_type) { return all_fit(of_type.second); });
}

void check_walk_fields(definition_source& source) {
  const auto& sampler = source.value.sampler;
  const auto visits = sampler.method == sampling_method::pinsage;
  if (!source.usable("sampler.method"))
    return;
  if (!visits)
    refuse_given(
      source,
      {{"sampler.walks", sampler.walks != default_of("sampler", "walks")},
       {"sampler.restart",
        sampler.restart != default_of("sampler", "restart")}},
      "`sampler.method: pinsage`");
  if (!visits && sampler.method != sampling_method::saint)
    refuse_given(source,
                 {{"sampler.walk_length",
                   sampler.walk_length != default_of("sampler", "walkLength")}},
                 "`sampler.method` pinsage and saint");
}

/// What fanouts mean for methods that take no in-edges out of lists alone.
void check_method_fanouts(definition_source& source) {
  const auto& def = source.value;
  if (!source.usable("sampler.fanouts"))
    return;
  const auto report = [&source](std::string text) {
    source.report(source.where("sampler.fanouts"), std::move(text));
  };
  if (def.sampler.method == sampling_method::hgt
      && has_other_fanouts(def, [](auto fanout) { return fanout >= 0; }))
    report("`sampler.fanouts` has `all`, and with `sampler.method: hgt` its "
           "numbers are nodes of each type that a hop takes; say how many");
  if (def.sampler.method == sampling_method::saint
      && has_other_fanouts(
        def, [](auto fanout) { return fanout == -1 || fanout == 0; }))
    report("with `sampler.method: saint`, each layer takes all edges among the "
           "nodes of the batch, or none of a type; make each of "
           "`sampler.fanouts` all or 0");
}

void check_method(definition_source& source) {
  const auto& def = source.value;
  const auto& sampler = def.sampler;
  const auto word = word_of(sampler.method);
  if (!source.usable("sampler.method"))
    return;
  const auto refuse = [&source](const std::string& path, std::string text) {
    if (source.usable(path))
      source.report(source.where(path), std::move(text));
  };
  const auto by_lists = draws_lists(sampler.method);
  if (sampler.replace && !(by_lists && repeats(sampler.kind())))
    refuse("sampler.replace",
           fmt::format(
             "`sampler.method: {}` {}; leave out `sampler.replace`", word,
             by_lists ? "draws without replacement" : "settles what is drawn"));
  if (sampler.subgraph == subgraph_kind::induced && sampler.disjoint)
    refuse("sampler.subgraph",
           "`sampler.subgraph: induced` takes all edges among the nodes "
           "of a batch, and with `sampler.disjoint` rows share none; "
           "leave out one of them");
  check_walk_fields(source);
  if (by_lists)
    return;
  check_method_fanouts(source);
  if (sampler.method == sampling_method::pinsage
        ? sampler.subgraph != subgraph_kind::directional
        : sampler.subgraph == subgraph_kind::bidirectional)
    refuse("sampler.subgraph",
           fmt::format("`sampler.method: {}` settles which edges a batch has; "
                       "leave out `sampler.subgraph`",
                       word));
  if (sampler.method == sampling_method::pinsage
      && def.evaluate.neighbours == neighbour_use::all)
    refuse("evaluate.neighbours",
           "`evaluate.neighbours: all` takes all in-edges, which "
           "`sampler.method: pinsage` does not learn from; leave out one of "
           "them");
  if (def.fetch.cache != 0 && def.fetch.cache_order == cache_order::vip)
    refuse("fetch.cache_order",
           fmt::format("`fetch.cache_order: vip` knows no chances of nodes for "
                       "`sampler.method: {}`; set fetch.cache_order: degree",
                       word));
}

/// Without neighbours, a model that hears them is another one.
void check_sampling(definition_source& source) {
  const auto& sampler = source.value.sampler;
  const auto is_nothing = [](const std::vector<std::int32_t>& fanouts) {
    return std::ranges::all_of(fanouts, [](auto value) { return value == 0; });
  };
  if (!source.usable("sampler.fanouts") || !source.usable("model.kind")
      || !traits_of(source.value.model.kind).hears()
      || !is_nothing(sampler.fanouts)
      || !std::ranges::all_of(sampler.edge_fanouts,
                              [&is_nothing](const auto& of_type) {
                                return is_nothing(of_type.second);
                              }))
    return;
  source.report(source.where("sampler.fanouts"),
                fmt::format("`sampler.fanouts` are 0 in every hop, so that {} "
                            "would see no neighbour; sample some, or use "
                            "`kind: mlp`",
                            traits_of(source.value.model.kind).name));
}

void check_heads(definition_source& source) {
  const auto& model = source.value.model;
  const auto& traits = traits_of(model.kind);
  if (!traits.attends() || !source.usable("model.kind")
      || !source.usable("model.hidden") || !source.usable("model.heads"))
    return;
  if (model.hidden % model.heads != 0)
    source.report(
      source.where("model.heads"),
      fmt::format("`model.hidden` is {}, which does not divide among {} "
                  "heads of {}",
                  model.hidden, model.heads, traits.name));
}

/// What has no effect where heads are mixed by a matrix, and nodes' own rows
/// come by a gate.
void check_gated_effects(definition_source& source) {
  const auto& model = source.value.model;
  const auto name = traits_of(model.kind).name;
  if (model.output_heads != 0 && source.usable("model.output_heads"))
    source.report(
      source.where("model.output_heads"),
      fmt::format("`model.output_heads` is for kinds whose last layer averages "
                  "its heads, and {} does not; leave it out",
                  name));
  if (model.attention_residual && source.usable("model.attention_residual"))
    source.report(source.where("model.attention_residual"),
                  fmt::format("`model.attention_residual` adds each node's own "
                              "row, as {} does by a gate that it learns; leave "
                              "it out",
                              name));
}

/// What kinds that attend may leave without effect.
void check_attention_effects(definition_source& source) {
  const auto& model = source.value.model;
  if (model.output_heads != 0 && model.jumping
      && source.usable("model.output_heads") && source.usable("model.jumping"))
    source.report(source.where("model.output_heads"),
                  "`model.output_heads` is for the layer that gives the "
                  "logits, and with `model.jumping` none does; leave one of "
                  "them out");
  if (model.attention_residual && traits_of(model.kind).self_weight
      && source.usable("model.attention_residual"))
    source.report(source.where("model.attention_residual"),
                  fmt::format("`model.attention_residual` adds each node's own "
                              "row times a matrix, as {} always does; leave it "
                              "out",
                              traits_of(model.kind).name));
}

/// What only kinds that attend take notice of.
void check_attention(definition_source& source) {
  const auto& model = source.value.model;
  if (!source.usable("model.kind"))
    return;
  if (traits_of(model.kind).gated)
    return check_gated_effects(source);
  if (traits_of(model.kind).attends())
    return check_attention_effects(source);
  refuse_given(source,
               {{"model.heads", model.heads != default_of("model", "heads")},
                {"model.output_heads", model.output_heads != 0},
                {"model.attention_dropout", model.attention_dropout != 0},
                {"model.attention_residual", model.attention_residual}},
               fmt::format("kinds that attend, and {} does not",
                           traits_of(model.kind).name));
}

void check_message_dropout(definition_source& source) {
  const auto& model = source.value.model;
  if (traits_of(model.kind).drops_messages() || !source.usable("model.kind"))
    return;
  std::vector<std::string_view> kinds;
  for (const auto& traits : model_kinds)
    if (traits.drops_messages())
      kinds.push_back(traits.name);
  refuse_given(source, {{"model.message_dropout", model.message_dropout != 0}},
               fmt::format("{}, and not for {}", fmt::join(kinds, " and "),
                           traits_of(model.kind).name));
}

void check_relations(definition_source& source) {
  const auto& model = source.value.model;
  if (traits_of(model.kind).combines_relations()
      || !source.usable("model.kind"))
    return;
  std::vector<std::string_view> kinds;
  for (const auto& traits : model_kinds)
    if (traits.combines_relations())
      kinds.push_back(traits.name);
  refuse_given(source,
               {{"model.relations", model.relations != relation_use::sum},
                {"model.bases", model.bases != 0}},
               fmt::format("{}, and not for {}", fmt::join(kinds, " and "),
                           traits_of(model.kind).name));
}

/// What only kinds that read features of edges take notice of, by time.
void check_ages(definition_source& source) {
  const auto& model = source.value.model;
  const auto& traits = traits_of(model.kind);
  if (!source.usable("model.edge_ages") || !source.usable("model.kind"))
    return;
  const auto differs = [](double value, const char* field) {
    return value != default_of("model", field);
  };
  if (model.edge_ages == edge_age_use::none)
    refuse_given(source,
                 {{"model.age_unit", differs(model.age_unit, "ageUnit")}},
                 "`edge_ages: log` and `edge_ages: cosine`");
  if (model.edge_ages != edge_age_use::cosine)
    refuse_given(source,
                 {{"model.age_width", differs(model.age_width, "ageWidth")}},
                 "`edge_ages: cosine` alone");
  if (model.edge_ages == edge_age_use::none)
    return;
  if (!traits.reads_edge_features())
    source.report(source.where("model.edge_ages"),
                  fmt::format("`model.edge_ages` is for kinds that read "
                              "features of edges, and {} does not; leave it "
                              "out",
                              traits.name));
  else if (!source.value.sampler.is_timed() && source.usable("sampler.time"))
    source.report(source.where("model.edge_ages"),
                  "`model.edge_ages` needs the time of each row; set "
                  "`sampler.time: strict` or `inclusive`");
}

/// Rows of tables must not change their signs.
void check_embedding_decay(definition_source& source) {
  const auto& optimizer = source.value.optimizer;
  if (optimizer.embedding_decay * optimizer.learning_rate <= 1
      || !source.usable("optimizer.embedding_decay")
      || !source.usable("optimizer.learning_rate"))
    return;
  source.report(source.where("optimizer.embedding_decay"),
                fmt::format("`optimizer.embedding_decay` is {}, may be {} at "
                            "most, one over the learning rate",
                            optimizer.embedding_decay,
                            1 / optimizer.learning_rate));
}

void check_patience(definition_source& source) {
  const auto& train = source.value.train;
  if (train.min_epochs != 0 && train.patience == 0
      && source.usable("train.patience") && source.usable("train.min_epochs"))
    source.report(source.where("train.min_epochs"),
                  "`train.min_epochs` says when `train.patience` begins to "
                  "count, which is 0; give that, too, or leave it out");
  if (train.patience_window != 1 && train.patience == 0
      && source.usable("train.patience")
      && source.usable("train.patience_window"))
    source.report(source.where("train.patience_window"),
                  "`train.patience_window` averages what `train.patience` "
                  "counts, which is 0; give that, too, or leave it out");
}

void check_class_weights(definition_source& source) {
  const auto& train = source.value.train;
  const auto given =
    !train.class_weights.empty() || !train.named_class_weights.empty();
  if (!given || !source.usable("train.class_weights"))
    return;
  if (train.balance_classes && source.usable("train.balance_classes"))
    source.report(source.where("train.class_weights"),
                  "`train.class_weights` and `train.balance_classes` exclude "
                  "each other; leave one of them out");
  if (!train.class_weights.empty()
      && std::all_of(train.class_weights.begin(), train.class_weights.end(),
                     [](double weight) { return weight == 0; }))
    source.report(source.where("train.class_weights"),
                  "`train.class_weights` are all 0, so that nothing would be "
                  "learnt; give one class more");
}

/// What the metric and the threshold say without a look at the dataset.
void check_measures(definition_source& source) {
  const auto& evaluate = source.value.evaluate;
  const auto report = [&source](const char* path, const result<void>& checked) {
    if (!checked && source.usable(path))
      source.report(source.where(path),
                    fmt::format("`{}`: {}", path, checked.error().message));
  };
  report("evaluate.metric", check_metric(evaluate));
  report("evaluate.threshold", check_threshold(evaluate));
}

/// Smoothed targets have no one probability to focus on.
void check_focus(definition_source& source) {
  const auto& train = source.value.train;
  if (train.focal_gamma != 0 && train.label_smoothing != 0
      && source.usable("train.focal_gamma")
      && source.usable("train.label_smoothing"))
    source.report(source.where("train.focal_gamma"),
                  "`train.focal_gamma` and `train.label_smoothing` exclude "
                  "each other; leave one of them out");
}

/// What only some optimizers and schedules take notice of.
void check_optimizer(definition_source& source) {
  const auto& optimizer = source.value.optimizer;
  const auto differs = [](double value, const char* field) {
    return value != default_of("optimizer", field);
  };
  if (optimizer.kind != optimizer_kind::sgd && source.usable("optimizer.kind"))
    refuse_given(source, {{"optimizer.momentum", optimizer.momentum != 0}},
                 "`kind: sgd` alone");
  if (optimizer.schedule != schedule_kind::step
      && source.usable("optimizer.schedule"))
    refuse_given(
      source,
      {{"optimizer.step_epochs", differs(optimizer.step_epochs, "stepEpochs")},
       {"optimizer.step_factor", differs(optimizer.step_factor, "stepFactor")}},
      "`schedule: step` alone");
}

/// What nodes take no notice of. Whether a task of edges does, the dataset
/// says.
void check_without_task(definition_source& source) {
  const auto& def = source.value;
  if (!def.task.empty() || !source.usable("task"))
    return;
  const auto differs = [](double value, const char* section,
                          const char* field) {
    return value != default_of(section, field);
  };
  const auto& negatives = def.negatives;
  refuse_given(
    source,
    {{"model.width", def.model.width != 0},
     {"decoder.kind", def.decoder.kind != decoder_kind::dot},
     {"decoder.hidden", def.decoder.hidden != 0},
     {"decoder.norm", differs(def.decoder.norm, "decoder", "norm")},
     {"negatives.kind", negatives.kind != negative_kind::per_edge},
     {"negatives.count", differs(negatives.count, "negatives", "count")},
     {"negatives.corrupt", negatives.corrupt != corrupted_end::destination},
     {"negatives.weight", negatives.weight != negative_weight::uniform},
     {"train.link_loss", def.train.link_loss != link_loss::bce},
     {"evaluate.negatives",
      differs(def.evaluate.negatives, "evaluate", "negatives")}},
    "tasks of edges, which `task` names");
}

void check_decoder(definition_source& source) {
  const auto& def = source.value;
  const auto kind = def.decoder.kind;
  if (def.task.empty() || !source.usable("decoder.kind"))
    return;
  if (kind != decoder_kind::mlp)
    refuse_given(source, {{"decoder.hidden", def.decoder.hidden != 0}},
                 "`decoder.kind: mlp` alone");
  if (kind != decoder_kind::transe)
    refuse_given(
      source,
      {{"decoder.norm", def.decoder.norm != default_of("decoder", "norm")}},
      "`decoder.kind: transe` alone");
  const std::string path =
    def.model.width != 0 ? "model.width" : "model.hidden";
  const auto width = def.model.width != 0 ? def.model.width : def.model.hidden;
  if (needs_halves(kind) && width % 2 != 0 && source.usable("model.width")
      && source.usable("model.hidden"))
    source.report(source.where(path),
                  fmt::format("`{}` is {}, must be even with `decoder.kind: "
                              "{}`, which takes outputs in two halves",
                              path, width, to_string(kind)));
}

/// What only some losses and negatives of links take notice of.
void check_link_fields(definition_source& source) {
  const auto& train = source.value.train;
  const auto loss = train.link_loss;
  if (source.usable("train.link_loss")) {
    if (loss != link_loss::margin && loss != link_loss::self_adversarial)
      refuse_given(
        source,
        {{"train.margin", train.margin != default_of("train", "margin")}},
        "`link_loss: margin` and `link_loss: self_adversarial`");
    if (loss != link_loss::self_adversarial)
      refuse_given(source,
                   {{"train.temperature",
                     train.temperature != default_of("train", "temperature")}},
                   "`link_loss: self_adversarial` alone");
  }
  const auto& negatives = source.value.negatives;
  if (negatives.kind == negative_kind::given && !source.value.task.empty()
      && source.usable("negatives.kind"))
    refuse_given(
      source,
      {{"negatives.count", negatives.count != default_of("negatives", "count")},
       {"negatives.corrupt", negatives.corrupt != corrupted_end::destination},
       {"negatives.weight", negatives.weight != negative_weight::uniform}},
      "negatives that are drawn, and with `kind: given` none are");
  if (negatives.kind == negative_kind::joint
      && negatives.corrupt == corrupted_end::pair
      && source.usable("negatives.kind") && source.usable("negatives.corrupt"))
    source.report(source.where("negatives.corrupt"),
                  "`negatives.corrupt: pair` is for `kind: per_edge`, and with "
                  "`kind: joint` negatives replace one end; use both");
  constexpr std::uint32_t all = 4294967295; // What the schema has for the word.
  if (negatives.corrupt == corrupted_end::pair
      && source.value.evaluate.negatives == all
      && source.usable("negatives.corrupt")
      && source.usable("evaluate.negatives"))
    source.report(source.where("evaluate.negatives"),
                  "`evaluate.negatives: all` ranks all nodes at one end, and "
                  "`negatives.corrupt: pair` replaces both; give a number");
}

void check_one_target(definition_source& source) {
  const auto& def = source.value;
  if (!def.task.empty() && !def.labels.empty() && source.usable("task")
      && source.usable("labels"))
    source.report(source.where("task"),
                  "`task` and `labels` exclude each other; leave one of them "
                  "out");
}

/// What is told of a step must fit into a message.
void check_record(definition_source& source) {
  constexpr auto most = most_told_seeds;
  const auto& def = source.value;
  if (!def.train.record_steps || !source.usable("train.record_steps"))
    return;
  for (const auto& [path, size] :
       {std::pair{"train.batch_size", def.train.batch_size},
        std::pair{"evaluate.batch_size", def.evaluate.batch_size}})
    if (size > most && source.usable(path))
      source.report(source.where(path),
                    fmt::format("`{}` is above {}, which is the most with "
                                "`train.record_steps`",
                                path, most));
}

/// What comes out of weights depends on how many trainers share a batch.
void check_trains_nothing(definition_source& source) {
  const auto& def = source.value;
  if (!trains_nothing(def) || !source.usable("evaluate.predict")
      || !source.usable("evaluate.only"))
    return;
  if (def.evaluate.predict && def.evaluate.only != measured_split::none
      && def.task.empty())
    source.report(source.where("evaluate.only"),
                  "`evaluate.only` measures a split, and `evaluate.predict` "
                  "predicts all nodes: leave one of both out");
  if (def.trainer.is_elastic() && source.usable("trainer.replicas"))
    source.report(
      source.where("trainer.replicas"),
      fmt::format("`trainer.replicas` must be one number with `evaluate.{}`, "
                  "and `trainer.sizes` left out",
                  def.evaluate.predict ? "predict" : "only"));
  if (def.evaluate.predict && def.evaluate.batch_size > most_told_seeds
      && source.usable("evaluate.batch_size"))
    source.report(source.where("evaluate.batch_size"),
                  fmt::format("`evaluate.batch_size` is above {0}, which is "
                              "the most with `evaluate.predict`: make it {0}; "
                              "with all neighbours the predictions are the "
                              "same",
                              most_told_seeds));
}

/// A daemon that is named twice is a slip of the pen.
void check_daemons(definition_source& source, const std::string& path,
                   const std::vector<std::string>& names) {
  if (!source.usable(path))
    return;
  for (auto it = names.begin(); it != names.end(); ++it)
    if (std::find(names.begin(), it, *it) != it) {
      source.report(
        source.where(path),
        fmt::format("`{}` names daemon {} twice", path, in_quotes(*it)));
      return;
    }
}

/// Whoever is to train or to sample is one of those that the run may use.
void check_among(definition_source& source, const std::string& path,
                 const std::vector<std::string>& names) {
  const auto& allowed = source.value.placement.daemons;
  if (allowed.empty() || !source.usable(path)
      || !source.usable("placement.daemons"))
    return;
  for (const auto& name : names)
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      source.report(source.where(path),
                    fmt::format("`{}` names daemon {}, which is not among "
                                "`placement.daemons`",
                                path, in_quotes(name)));
      return;
    }
}

} // namespace

void check_definition(definition_source& source) {
  check_name(source, "name", source.value.name);
  check_name(source, "dataset", source.value.dataset);
  check_device(source);
  check_range(source);
  check_sizes(source);
  check_fanouts(source);
  check_method(source);
  check_sampling(source);
  check_heads(source);
  check_attention(source);
  check_message_dropout(source);
  check_relations(source);
  check_ages(source);
  check_one_target(source);
  check_without_task(source);
  check_decoder(source);
  check_link_fields(source);
  check_optimizer(source);
  check_embedding_decay(source);
  check_patience(source);
  check_class_weights(source);
  check_focus(source);
  check_measures(source);
  check_record(source);
  check_trains_nothing(source);
  check_daemons(source, "placement.trainers", source.value.placement.trainers);
  check_daemons(source, "placement.samplers", source.value.placement.samplers);
  check_daemons(source, "placement.daemons", source.value.placement.daemons);
  check_among(source, "placement.trainers", source.value.placement.trainers);
  check_among(source, "placement.samplers", source.value.placement.samplers);
  check_daemons(source, "faults.daemons", source.value.faults.daemons);
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'
         || c == '_' || c == '-';
}

} // namespace graphmill
