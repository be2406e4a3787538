#include "pipelines/kernels/model_layout.hpp"

#include "pipelines/definition/class_names.hpp"
#include "pipelines/definition/edge_predictions.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "pipelines/task/task_traits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace graphmill {

namespace {

class builder {
public:
  builder(const definition& def, const dataset_info& info)
    : def_(def), info_(info), traits_(traits_of(def.model.kind)) {}

  result<model_layout> build() {
    GRAPHMILL_TRYV(check());
    out_.traits = traits_;
    out_.hops = hops(def_);
    out_.target = info_.target;
    out_.classes = target().class_count;
    out_.outcomes = task_of(target()).outcomes;
    out_.loss = def_.train.loss;
    out_.outputs = {info_.target};
    out_.output_width = out_.classes;
    if (const auto* task = chosen_task(info_))
      GRAPHMILL_TRYV(choose_decoder(*task));
    GRAPHMILL_TRY(out_.class_weights, class_weights_of(def_.train, target()));
    out_.statistics = out_.class_weights.empty() ? 0 : 1;
    out_.drop_threshold = dropout_threshold(def_.model.dropout);
    if (traits_.attends())
      out_.attention_threshold =
        dropout_threshold(def_.model.attention_dropout);
    if (traits_.drops_messages())
      out_.message_threshold = dropout_threshold(def_.model.message_dropout);
    if (traits_.combines_relations()) {
      out_.combine = def_.model.relations;
      out_.bases = def_.model.bases;
    }
    add_relations();
    add_ages();
    add_tables();
    add_widths();
    for (int l = 0; l < out_.hops; ++l)
      add_parameters(l);
    out_.head_offset = out_.dense_size;
    if (def_.model.jumping) {
      out_.jumping_weight = add_weight(
        "jumping.weight", std::int64_t{out_.hops} * def_.model.hidden,
        out_.output_width);
      out_.jumping_bias =
        add("jumping.bias", {out_.output_width}, start::zeros);
    }
    if (out_.decoder)
      add_decoder(*out_.decoder);
    return std::move(out_);
  }

private:
  const node_type_info& target() const {
    return info_.node_types[static_cast<std::size_t>(info_.target)];
  }

  /// What decoding and `check_against` have left open.
  result<void> check() const {
    const auto& model = def_.model;
    if (hops(def_) > 64 || info_.node_types.size() > 256)
      return fail(ec::invalid_argument,
                  "{} layers over {} node types are more than 64 and 256",
                  hops(def_), info_.node_types.size());
    if (traits_.attends()
        && (model.heads < 1 || model.hidden % model.heads != 0))
      return fail(ec::invalid_argument,
                  "model.hidden ({}) must be a multiple of model.heads ({}): "
                  "it is the width of all heads side by side",
                  model.hidden, model.heads);
    if (model.bases != 0 && !traits_.combines_relations())
      return fail(ec::invalid_argument,
                  "model.bases is for kinds that sum over several edge types, "
                  "and {} is none; leave it out",
                  traits_.name);
    if (model.bases != 0 && def_.trainer.device != "cpu")
      return fail(ec::invalid_argument,
                  "trainer.device \"{}\" does not compute model.bases yet; set "
                  "it to cpu, or leave model.bases out",
                  def_.trainer.device);
    if (auto problem = problem_with_edge_features(def_, info_, false))
      return fail(ec::invalid_argument, "{}", *problem);
    if (auto problem = problem_with_ages(def_, info_))
      return fail(ec::invalid_argument, "{}", *problem);
    if (auto problem = problem_with_decoded_features(def_, info_))
      return fail(ec::invalid_argument, "{}", *problem);
    return traits_.looks_up ? check_lookup() : ok();
  }

  result<void> check_lookup() const {
    const auto* task = chosen_task(info_);
    if (task == nullptr)
      return fail(ec::invalid_argument,
                  "model.kind {} learns vectors of nodes for tasks of edges; "
                  "set `task`, or choose another kind",
                  traits_.name);
    if (def_.model.jumping || def_.model.layer_norm || def_.model.residual)
      return fail(ec::invalid_argument,
                  "model.jumping, model.layer_norm and model.residual are of "
                  "layers with weights, and {} has none; leave them out",
                  traits_.name);
    std::vector<bool> read(info_.node_types.size(), traits_.hears());
    for (const auto edge_type : task->edge_types) {
      const auto& ends = info_.edge_types[static_cast<std::size_t>(edge_type)];
      read[static_cast<std::size_t>(ends.source)] = true;
      read[static_cast<std::size_t>(ends.destination)] = true;
    }
    for (std::size_t t = 0; t < read.size(); ++t)
      if (read[t] && info_.node_types[t].feature_width != 0)
        return fail(ec::invalid_argument,
                    "model.kind {} is for node types without features, and {} "
                    "has some; choose another kind",
                    traits_.name, info_.node_types[t].name);
    return ok();
  }

  result<void> choose_decoder(const edge_task_info& task) {
    auto& made = out_.decoder.emplace();
    made.kind = def_.decoder.kind;
    made.norm = def_.decoder.norm;
    made.loss = def_.train.link_loss;
    made.margin = def_.train.margin;
    made.temperature = def_.train.temperature;
    out_.output_width = output_width(def_);
    out_.outputs.clear();
    for (const auto edge_type : task.edge_types) {
      const auto& ends = info_.edge_types[static_cast<std::size_t>(edge_type)];
      made.ends.push_back({ends.source, ends.destination});
      out_.outputs.push_back(ends.source);
      out_.outputs.push_back(ends.destination);
    }
    std::sort(out_.outputs.begin(), out_.outputs.end());
    out_.outputs.erase(std::unique(out_.outputs.begin(), out_.outputs.end()),
                       out_.outputs.end());
    return check_decoder(made);
  }

  result<void> check_decoder(const decoder_layout& made) const {
    if (def_.trainer.device != "cpu")
      return fail(ec::invalid_argument,
                  "trainer.device \"{}\" does not learn tasks of edges yet; "
                  "set it to cpu",
                  def_.trainer.device);
    const auto any =
      made.kind == decoder_kind::bilinear || made.kind == decoder_kind::mlp;
    const auto decides = out_.outcomes == outcome_form::classes
                         || out_.outcomes == outcome_form::labels;
    if (!any && (decides || out_.classes != 1))
      return fail(ec::invalid_argument,
                  "decoder.kind must be bilinear or mlp for task \"{}\": the "
                  "others give one score of an edge, which is for links and "
                  "single numbers",
                  def_.task);
    const auto halves =
      made.kind == decoder_kind::complex || made.kind == decoder_kind::rotate;
    if (halves && out_.output_width % 2 != 0)
      return fail(ec::invalid_argument,
                  "complex and rotate take outputs as complex numbers, and the "
                  "width of an output ({}) is odd; set model.width to an even "
                  "number",
                  out_.output_width);
    return ok();
  }

  /// Vectors of edge types are about as long as 1 before training.
  void add_decoder(decoder_layout& made) {
    const auto edge_types = std::ssize(made.ends);
    const auto width = out_.output_width;
    const auto limit = std::sqrt(3.0 / static_cast<double>(width));
    switch (made.kind) {
    case decoder_kind::dot:
    case decoder_kind::cosine:
      break;
    case decoder_kind::distmult:
    case decoder_kind::complex:
    case decoder_kind::transe:
      made.relation =
        add("decoder.relation", {edge_types, width}, start::glorot, limit);
      break;
    case decoder_kind::rotate:
      made.relation = add("decoder.relation", {edge_types, width / 2},
                          start::glorot, std::numbers::pi);
      break;
    case decoder_kind::bilinear:
      made.matrices =
        add("decoder.weight", {edge_types * out_.classes, width, width},
            start::glorot, limit);
      add_decoded_edges(made, out_.classes);
      break;
    case decoder_kind::mlp: {
      const auto inside =
        def_.decoder.hidden != 0 ? std::int64_t{def_.decoder.hidden} : width;
      made.hidden_weight =
        add_weight("decoder.hidden.weight", 3 * width, inside);
      made.hidden_bias =
        add("decoder.hidden.bias", {edge_types, inside}, start::zeros);
      made.output_weight =
        add_weight("decoder.output.weight", inside, out_.classes);
      add_decoded_edges(made, inside);
      break;
    }
    }
    if (out_.outcomes != outcome_form::ranks)
      made.bias = add("decoder.bias", {out_.classes}, start::zeros);
  }

  void add_decoded_edges(decoder_layout& made, std::int64_t out) {
    if (decodes_edge_features(def_))
      made.edge_weight =
        add_weight("decoder.edge.weight", decoded_edge_width(def_, info_), out);
  }

  void add_relations() {
    if (!traits_.typed) {
      out_.relations.push_back({"neighbours", 0, 0});
      if (!info_.edge_types.empty())
        add_edge_columns(info_.edge_types.front());
      return;
    }
    for (std::size_t e = 0; e < info_.edge_types.size(); ++e) {
      out_.relations.push_back(
        {info_.edge_type_name(static_cast<edge_type_id>(e)),
         info_.edge_types[e].source, info_.edge_types[e].destination});
      add_edge_columns(info_.edge_types[e]);
    }
    if (out_.combine != relation_use::mean_of_all)
      return;
    std::vector<int> into(info_.node_types.size());
    for (const auto& relation : out_.relations)
      ++into[relation.destination];
    for (auto& relation : out_.relations)
      relation.share = 1 / static_cast<float>(into[relation.destination]);
  }

  /// To the last relation.
  void add_edge_columns(const edge_type_info& type) {
    auto& relation = out_.relations.back();
    relation.age_width = age_columns(def_, type);
    relation.edge_width = relation.age_width;
    if (reads_edge_features(def_, info_))
      relation.edge_width += type.feature_width;
  }

  /// Ahead of all layers, which share what is learnt: it is the last that is
  /// final in backward.
  void add_ages() {
    if (!reads_ages(def_, info_))
      return;
    auto& ages = out_.ages.emplace();
    ages.scale =
      1 / (def_.model.age_unit * static_cast<double>(info_.ticks_per_second));
    if (def_.model.edge_ages != edge_age_use::cosine)
      return;
    const std::int64_t width = def_.model.age_width;
    ages.log_frequency = add("age.log_frequency", {width}, start::frequencies);
    ages.phase = add("age.phase", {width}, start::zeros);
  }

  void add_tables() {
    for (std::size_t t = 0; t < info_.node_types.size(); ++t) {
      const auto& type = info_.node_types[t];
      out_.table_of.push_back(absent);
      out_.feature_rows.push_back(row_form::of(type));
      if (type.feature_width != 0
          || (traits_.looks_up && !traits_.hears()
              && !out_.gives(static_cast<node_type_id>(t))))
        continue;
      out_.table_of.back() = static_cast<int>(out_.tables.size());
      out_.tables.push_back({"embedding." + type.name,
                             static_cast<node_type_id>(t), type.count,
                             input_width(t), def_.model.embedding_scale});
    }
  }

  /// Widths, from the last layer back: only what a later layer reads is
  /// computed.
  void add_widths() {
    out_.layers.resize(static_cast<std::size_t>(out_.hops));
    std::vector<bool> needed(info_.node_types.size());
    for (const auto type : out_.outputs)
      needed[type] = true;
    for (auto l = out_.hops; l-- > 0;) {
      auto& layer = out_.layers[l];
      layer.last = l + 1 == out_.hops && !def_.model.jumping;
      layer.types.resize(info_.node_types.size());
      auto read = needed;
      for (std::size_t t = 0; t < needed.size(); ++t)
        if (needed[t]) {
          auto& type = layer.types[t];
          type.out = layer.last || traits_.looks_up ? out_.output_width
                                                    : def_.model.hidden;
          type.sum =
            traits_.perceptron || traits_.gated ? def_.model.hidden : type.out;
        }
      for (const auto& relation : out_.relations)
        if (traits_.hears() && needed[relation.destination])
          read[relation.source] = true;
      for (std::size_t t = 0; t < needed.size(); ++t)
        if (read[t])
          layer.types[t].in =
            l > 0 && !traits_.looks_up ? def_.model.hidden : input_width(t);
      needed = read;
    }
  }

  std::int64_t input_width(std::size_t t) const {
    const auto width = info_.node_types[t].feature_width;
    if (width != 0)
      return width;
    return traits_.looks_up ? out_.output_width : def_.model.embedding;
  }

  int add(std::string name, std::vector<std::int64_t> shape, start begins,
          double limit = 0) {
    std::int64_t size = 1;
    for (auto extent : shape)
      size *= extent;
    out_.parameters.push_back({std::move(name), std::move(shape), begins, limit,
                               out_.dense_size, size});
    out_.dense_size += size;
    return static_cast<int>(out_.parameters.size()) - 1;
  }

  int add_weight(std::string name, std::int64_t in, std::int64_t out) {
    return add(std::move(name), {in, out}, start::glorot,
               std::sqrt(6.0 / static_cast<double>(in + out)));
  }

  void add_parameters(int l) {
    auto& layer = out_.layers[l];
    layer.offset = out_.dense_size;
    const auto prefix = fmt::format("layer{}.", l + 1);
    if (!layer.last)
      layer.after = traits_.between;
    if (traits_.attends())
      layer.heads = layer.last && def_.model.output_heads != 0 && !traits_.gated
                      ? def_.model.output_heads
                      : def_.model.heads;
    if (traits_.attends_across())
      add_projections(layer, prefix);
    for (std::size_t t = 0; t < layer.types.size(); ++t)
      add_type(layer, t, prefix);
    for (const auto& relation : out_.relations) {
      const auto in = layer.types[relation.source].in;
      const auto out = layer.types[relation.destination].sum;
      layer.weights.push_back(absent);
      layer.pool_weights.push_back(absent);
      layer.pool_biases.push_back(absent);
      layer.source_scores.push_back(absent);
      layer.destination_scores.push_back(absent);
      layer.score_maps.push_back(absent);
      layer.priors.push_back(absent);
      layer.factors.push_back(absent);
      layer.edge_weights.push_back(absent);
      layer.edge_biases.push_back(absent);
      layer.edge_scores.push_back(absent);
      if (out == 0 || !traits_.hears() || traits_.looks_up)
        continue;
      if (traits_.attends_across())
        add_maps(layer, prefix + relation.name + ".");
      else if (traits_.attends_by_relation())
        add_relational_attention(layer, prefix + relation.name + ".", in, out,
                                 layer.types[relation.destination].in);
      else if (traits_.attends())
        add_attention(layer, prefix, in, out);
      else if (out_.bases != 0)
        add_bases(layer, prefix, layer.weights.size() - 1, in, out);
      else
        add_relation(layer, prefix + relation.name + ".", in, out);
      if (relation.edge_width != 0)
        add_edges(layer, prefix + relation.name + ".", relation.edge_width, in,
                  out);
    }
    if (traits_.learns_own_weight)
      layer.epsilon = add(prefix + "epsilon", {1}, start::zeros);
  }

  /// What is learnt of the features of a relation's edges.
  void add_edges(layer_layout& layer, const std::string& name,
                 std::int64_t width, std::int64_t in, std::int64_t out) {
    if (traits_.adds_edges_to_rows()) {
      layer.edge_weights.back() = add_weight(name + "edge.weight", width, in);
      layer.edge_biases.back() = add(name + "edge.bias", {in}, start::zeros);
      return;
    }
    if (!traits_.attends()) {
      layer.edge_weights.back() = add_weight(name + "edge.weight", width, out);
      return;
    }
    if (traits_.attends_across()) {
      layer.edge_weights.back() =
        add_weight(name + "edge.weight", width, layer.inside);
      return;
    }
    const auto head = layer.last ? out : out / layer.heads;
    layer.edge_weights.back() =
      add_weight(name + "edge.weight", width, layer.heads * head);
    if (traits_.score == attention_score::separate)
      layer.edge_scores.back() =
        add(name + "attention.edge", {layer.heads, head}, start::glorot,
            std::sqrt(6.0 / static_cast<double>(head + 1)));
  }

  /// All types that a layer computes are equally wide, and so one set of bases
  /// does for all relations from a type.
  void add_bases(layer_layout& layer, const std::string& prefix,
                 std::size_t relation, std::int64_t in, std::int64_t out) {
    const auto source = out_.relations[relation].source;
    for (std::size_t r = 0; r < relation; ++r)
      if (out_.relations[r].source == source && layer.weights[r] != absent)
        layer.weights.back() = layer.weights[r];
    if (layer.weights.back() == absent)
      layer.weights.back() =
        add(prefix + info_.node_types[static_cast<std::size_t>(source)].name
              + ".bases",
            {out_.bases, in, out}, start::glorot,
            std::sqrt(6.0 / static_cast<double>(in + out)));
    layer.factors.back() =
      add(prefix + out_.relations[relation].name + ".factors", {1, out_.bases},
          start::glorot, std::sqrt(3.0 / static_cast<double>(out_.bases)));
  }

  void add_relation(layer_layout& layer, const std::string& name,
                    std::int64_t in, std::int64_t out) {
    auto width = in;
    if (traits_.pools) {
      width = def_.model.hidden;
      layer.pool_weights.back() = add_weight(name + "pool.weight", in, width);
      layer.pool_biases.back() = add(name + "pool.bias", {width}, start::zeros);
    }
    layer.weights.back() = add_weight(name + "weight", width, out);
  }

  void add_type(layer_layout& layer, std::size_t t, const std::string& prefix) {
    auto& type = layer.types[t];
    if (type.out == 0)
      return;
    if (traits_.looks_up) { // Without messages it hands on what it takes.
      type.residual = !traits_.hears();
      return;
    }
    const auto name =
      traits_.typed ? prefix + info_.node_types[t].name + "." : prefix;
    if (traits_.self_weight
        || (traits_.attends() && !traits_.gated
            && def_.model.attention_residual))
      type.self = add_weight(name + "self.weight", type.in, type.sum);
    if (traits_.perceptron) {
      type.inner_bias = add(name + "inner.bias", {type.sum}, start::zeros);
      type.inner = add_weight(name + "inner.weight", type.sum, type.out);
    }
    if (traits_.gated) {
      type.inner = add_weight(name + "output.weight", type.sum, type.out);
      type.gate = add(name + "skip.gate", {1}, start::ones);
      if (type.in != type.out)
        type.skip = add_weight(name + "skip.weight", type.in, type.out);
    }
    type.bias = add(name + "bias", {type.out}, start::zeros);
    type.residual = def_.model.residual && !layer.last && type.in == type.out;
    if (def_.model.layer_norm && !layer.last) {
      type.norm_gain = add(name + "norm.gain", {type.out}, start::ones);
      type.norm_shift = add(name + "norm.shift", {type.out}, start::zeros);
    }
  }

  /// Keys and values of types that are sources in the layer, and queries of
  /// those that are destinations.
  void add_projections(layer_layout& layer, const std::string& prefix) {
    const std::int64_t width = def_.model.hidden;
    layer.inside = width;
    for (std::size_t t = 0; t < layer.types.size(); ++t) {
      auto& type = layer.types[t];
      const auto name = prefix + info_.node_types[t].name + ".";
      const auto is = static_cast<node_type_id>(t);
      const auto any = [&](auto&& has) {
        return std::any_of(out_.relations.begin(), out_.relations.end(),
                           [&](const relation_info& relation) {
                             return layer.types[relation.destination].out != 0
                                    && has(relation) == is;
                           });
      };
      if (any([](const relation_info& r) { return r.source; })) {
        type.key = add_weight(name + "key.weight", type.in, width);
        type.value = add_weight(name + "value.weight", type.in, width);
        type.value_bias = add(name + "value.bias", {width}, start::zeros);
      }
      if (any([](const relation_info& r) { return r.destination; })) {
        type.query = add_weight(name + "query.weight", type.in, width);
        type.query_bias = add(name + "query.bias", {width}, start::zeros);
      }
    }
  }

  void add_maps(layer_layout& layer, const std::string& name) {
    const auto heads = layer.heads;
    const auto head = layer.inside / heads;
    const auto limit = std::sqrt(6.0 / static_cast<double>(2 * head));
    layer.score_maps.back() =
      add(name + "attention.weight", {heads, head, head}, start::glorot, limit);
    layer.priors.back() = add(name + "attention.prior", {heads}, start::ones);
    layer.weights.back() =
      add(name + "message.weight", {heads, head, head}, start::glorot, limit);
  }

  void add_attention(layer_layout& layer, const std::string& prefix,
                     std::int64_t in, std::int64_t out) {
    const auto heads = layer.heads;
    const auto head = layer.last ? out : out / heads;
    const auto limit = std::sqrt(6.0 / static_cast<double>(head + 1));
    layer.weights.back() = add_weight(prefix + "weight", in, heads * head);
    layer.attention_source =
      add(prefix + "attention.source", {heads, head}, start::glorot, limit);
    if (traits_.score == attention_score::joint)
      layer.attention_weight =
        add_weight(prefix + "attention.weight", in, heads * head);
    else
      layer.attention_destination = add(prefix + "attention.destination",
                                        {heads, head}, start::glorot, limit);
  }

  /// What scores a destination is a product with its row: a weight matrix of
  /// its own and a vector for each head would come to the same.
  void add_relational_attention(layer_layout& layer, const std::string& name,
                                std::int64_t in, std::int64_t out,
                                std::int64_t own) {
    const auto heads = layer.heads;
    const auto head = layer.last ? out : out / heads;
    layer.weights.back() = add_weight(name + "weight", in, heads * head);
    layer.source_scores.back() =
      add(name + "attention.source", {heads, head}, start::glorot,
          std::sqrt(6.0 / static_cast<double>(head + 1)));
    layer.destination_scores.back() =
      add_weight(name + "attention.destination", own, heads);
  }

  const definition& def_;
  const dataset_info& info_;
  const model_traits& traits_;
  model_layout out_;
};

} // namespace

std::int64_t model_layout::parameter_count() const {
  auto count = dense_size;
  for (const auto& table : tables)
    count += table.rows * table.width;
  return count;
}

result<model_layout> make_layout(const definition& def,
                                 const dataset_info& info) {
  GRAPHMILL_TRY(const auto chosen, choose_target(info, def));
  return builder{def, chosen}.build();
}

} // namespace graphmill
