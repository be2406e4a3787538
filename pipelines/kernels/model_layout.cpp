#include "pipelines/kernels/model_layout.hpp"

#include "pipelines/kernels/activation.hpp"

#include <cmath>

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
    out_.statistics = def_.train.class_weights.empty() ? 0 : 1;
    out_.drop_threshold = dropout_threshold(def_.model.dropout);
    if (traits_.attends())
      out_.attention_threshold =
        dropout_threshold(def_.model.attention_dropout);
    add_relations();
    add_tables();
    add_widths();
    for (int l = 0; l < out_.hops; ++l)
      add_parameters(l);
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
    return ok();
  }

  void add_relations() {
    if (!traits_.typed) {
      out_.relations.push_back({"neighbours", 0, 0});
      return;
    }
    for (std::size_t e = 0; e < info_.edge_types.size(); ++e)
      out_.relations.push_back(
        {info_.edge_type_name(static_cast<edge_type_id>(e)),
         info_.edge_types[e].source, info_.edge_types[e].destination});
  }

  void add_tables() {
    for (std::size_t t = 0; t < info_.node_types.size(); ++t) {
      const auto& type = info_.node_types[t];
      out_.table_of.push_back(absent);
      if (type.feature_width != 0)
        continue;
      out_.table_of.back() = static_cast<int>(out_.tables.size());
      out_.tables.push_back({"embedding." + type.name,
                             static_cast<node_type_id>(t), type.count,
                             def_.model.embedding, def_.model.embedding_scale});
    }
  }

  /// Widths, from the last layer back: only what a later layer reads is
  /// computed.
  void add_widths() {
    out_.layers.resize(static_cast<std::size_t>(out_.hops));
    std::vector<bool> needed(info_.node_types.size());
    needed[out_.target] = true;
    for (auto l = out_.hops; l-- > 0;) {
      auto& layer = out_.layers[l];
      layer.last = l + 1 == out_.hops;
      layer.types.resize(info_.node_types.size());
      auto read = needed;
      for (std::size_t t = 0; t < needed.size(); ++t)
        if (needed[t])
          layer.types[t].out = layer.last ? out_.classes : def_.model.hidden;
      for (const auto& relation : out_.relations)
        if (needed[relation.destination])
          read[relation.source] = true;
      for (std::size_t t = 0; t < needed.size(); ++t)
        if (read[t])
          layer.types[t].in = l > 0 ? def_.model.hidden : input_width(t);
      needed = read;
    }
  }

  std::int64_t input_width(std::size_t t) const {
    const auto width = info_.node_types[t].feature_width;
    return width != 0 ? width : def_.model.embedding;
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
    for (std::size_t t = 0; t < layer.types.size(); ++t)
      add_type(layer, l, t, prefix);
    for (const auto& relation : out_.relations) {
      const auto in = layer.types[relation.source].in;
      const auto out = layer.types[relation.destination].out;
      layer.weights.push_back(absent);
      if (out == 0)
        continue;
      if (traits_.attends())
        add_attention(layer, prefix, in, out);
      else
        layer.weights.back() =
          add_weight(prefix + relation.name + ".weight", in, out);
    }
  }

  void add_type(layer_layout& layer, int l, std::size_t t,
                const std::string& prefix) {
    auto& type = layer.types[t];
    if (type.out == 0)
      return;
    const auto name =
      traits_.typed ? prefix + info_.node_types[t].name + "." : prefix;
    if (traits_.self_weight
        || (traits_.attends() && def_.model.attention_residual))
      type.self = add_weight(name + "self.weight", type.in, type.out);
    type.bias = add(name + "bias", {type.out}, start::zeros);
    if (def_.model.layer_norm && l + 1 < out_.hops) {
      type.norm_gain = add(name + "norm.gain", {type.out}, start::ones);
      type.norm_shift = add(name + "norm.shift", {type.out}, start::zeros);
    }
  }

  /// The last layer's heads are as wide as there are classes, and averaged.
  void add_attention(layer_layout& layer, const std::string& prefix,
                     std::int64_t in, std::int64_t out) {
    const auto& model = def_.model;
    const auto heads = layer.last && model.output_heads != 0
                         ? std::int64_t{model.output_heads}
                         : std::int64_t{model.heads};
    layer.heads = heads;
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
  return builder{def, info}.build();
}

} // namespace graphmill
