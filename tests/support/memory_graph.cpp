#include "tests/support/memory_graph.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/proved_arrays.hpp"
#include "partition/files/half.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace graphmill {

namespace {

/// The arrays behind a shard's spans.
struct shard_arrays {
  struct nodes {
    std::vector<node_id> original_ids;
    std::vector<std::byte> all_originals;
    std::vector<std::byte> features;
    std::vector<std::int64_t> labels;
    std::vector<std::uint8_t> label_rows;
    std::array<std::vector<block_digest>, 3> trees;
  };
  struct edges {
    std::vector<std::int64_t> indptr;
    std::vector<std::byte> indices;
    std::vector<edge_id> original_begin;
    std::vector<std::int32_t> in_degrees;
    std::vector<std::int32_t> out_degrees;
    std::vector<float> weights;
    std::vector<float> in_weights;
    std::vector<float> out_weights;
    std::vector<std::int32_t> visible;
    std::vector<std::byte> features;
    std::vector<std::int64_t> times;
  };
  std::vector<nodes> node_types;
  std::vector<edges> edge_types;
};

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto old = bytes.size();
  bytes.resize(old + sizeof(T));
  std::memcpy(bytes.data() + old, &value, sizeof(T));
}

} // namespace

class shard_builder {
public:
  shard_builder(const test::memory_graph& graph, part_id parts,
                const test::assignment& owner, test::cut_options options,
                bool plain)
    : graph_(graph), parts_(parts), options_(options), plain_(plain) {
    describe();
    number(owner);
  }

  test::cut_graph build() {
    auto book = std::make_shared<partitioned_graph>();
    book->partitioned_ = !plain_;
    book->parts_ = parts_;
    book->info_ = info_;
    book->offsets_ = offsets_;
    for (auto id : graph_.nodes[graph_.target].train)
      book->seeds_[0].push_back(out_.to_global[graph_.target][id]);
    out_.graph = book;
    for (part_id p = 0; p < parts_; ++p) {
      out_.shards.push_back(build_part(p));
      if (!plain_)
        book->roots_.push_back(roots_of(*out_.shards.back()));
    }
    return std::move(out_);
  }

private:
  void describe() {
    dataset_info info;
    info.name = "memory";
    info.target = graph_.target;
    for (const auto& type : graph_.nodes) {
      node_type_info about;
      about.name = type.name;
      about.count = type.count;
      about.feature_width = type.width;
      about.feature_type = options_.half ? dtype::float16 : dtype::float32;
      if (!type.labels.empty())
        about.class_count =
          *std::max_element(type.labels.begin(), type.labels.end()) + 1;
      if (type.label_width > 0) {
        about.class_count = type.label_width;
        about.labels = label_kind::multi_label;
      }
      about.split_counts[0] = static_cast<std::int64_t>(type.train.size());
      info.node_types.push_back(about);
    }
    for (const auto& type : graph_.edges) {
      edge_type_info about{type.source, type.name, type.destination};
      for (const auto& list : type.in) {
        const auto degree = static_cast<std::int64_t>(list.size());
        about.count += degree;
        about.max_in_degree = std::max(about.max_in_degree, degree);
      }
      about.index_type = options_.wide ? dtype::int64 : dtype::int32;
      about.weighted = !type.weights.empty();
      about.leveled = !type.levels.empty();
      about.feature_width = type.feature_width;
      about.feature_type = options_.half ? dtype::float16 : dtype::float32;
      about.timed = !type.times.empty();
      info.edge_types.push_back(about);
    }
    info_ = std::make_shared<const dataset_info>(std::move(info));
  }

  void number(const test::assignment& owner) {
    for (std::size_t t = 0; t < graph_.nodes.size(); ++t) {
      const auto count = static_cast<std::size_t>(graph_.nodes[t].count);
      auto& original = out_.original.emplace_back();
      auto& global = out_.to_global.emplace_back(count);
      auto& offsets = offsets_.emplace_back(1, 0);
      for (part_id p = 0; p < parts_; ++p) {
        for (std::size_t id = 0; id < count; ++id)
          if (owner[t][id] == p) {
            global[id] = static_cast<node_id>(original.size());
            original.push_back(static_cast<node_id>(id));
          }
        offsets.push_back(static_cast<node_id>(original.size()));
      }
    }
  }

  std::shared_ptr<const shard> build_part(part_id part) {
    auto arrays = std::make_shared<shard_arrays>();
    arrays->node_types.resize(graph_.nodes.size());
    arrays->edge_types.resize(graph_.edges.size());
    auto out = std::make_shared<shard>();
    out->part_ = part;
    out->info_ = info_;
    out->owner_ = arrays;
    for (std::size_t t = 0; t < graph_.nodes.size(); ++t)
      out->nodes_.push_back(add_nodes(t, part, arrays->node_types[t]));
    if (!plain_)
      for (std::size_t t = 0; t < graph_.nodes.size(); ++t)
        add_trees(*out, t, arrays->node_types[t]);
    for (std::size_t e = 0; e < graph_.edges.size(); ++e)
      out->edges_.push_back(add_edges(e, part, arrays->edge_types[e]));
    return out;
  }

  static void add_trees(shard& part, std::size_t t,
                        shard_arrays::nodes& arrays) {
    auto& nodes = part.nodes_[t];
    for (auto which : all_proved_arrays) {
      const auto elements =
        elements_of(part, static_cast<node_type_id>(t), which);
      if (elements.empty())
        continue;
      const auto i = static_cast<std::size_t>(which);
      arrays.trees[i] =
        tree_over(elements, layout_of(part.info().node_types[t],
                                      nodes.end - nodes.begin, which));
      nodes.trees[i] = arrays.trees[i];
    }
  }

  static std::vector<partitioned_graph::array_roots>
  roots_of(const shard& part) {
    std::vector<partitioned_graph::array_roots> out;
    for (const auto& nodes : part.nodes_) {
      auto& roots = out.emplace_back();
      for (std::size_t i = 0; i < roots.size(); ++i)
        if (!nodes.trees[i].empty())
          roots[i] = nodes.trees[i].back();
    }
    return out;
  }

  std::span<const node_id> owned(std::size_t type, part_id part) const {
    const auto begin = offsets_[type][part];
    return std::span{out_.original[type]}.subspan(
      begin, offsets_[type][part + 1] - begin);
  }

  node_shard add_nodes(std::size_t t, part_id part,
                       shard_arrays::nodes& arrays) {
    const auto& type = graph_.nodes[t];
    for (auto id : owned(t, part)) {
      arrays.original_ids.push_back(id);
      for (std::int64_t f = 0; f < type.width; ++f) {
        const auto value = type.features[id * type.width + f];
        if (options_.half)
          append(arrays.features, to_half(value));
        else
          append(arrays.features, value);
      }
      if (!type.labels.empty())
        arrays.labels.push_back(type.labels[id]);
      for (std::int64_t c = 0; c < type.label_width; ++c)
        arrays.label_rows.push_back(type.label_rows[id * type.label_width + c]);
    }
    node_shard out{offsets_[t][part], offsets_[t][part + 1]};
    if (!plain_) {
      out.original_ids = arrays.original_ids;
      out.keeps_ids = false;
      for (const auto id : out_.original[t])
        append(arrays.all_originals, static_cast<std::int32_t>(id));
      out.all_originals = {arrays.all_originals.data(), type.count, false};
    }
    out.features = type.width == 0 ? nullptr : arrays.features.data();
    out.labels = arrays.labels;
    out.label_rows = arrays.label_rows;
    return out;
  }

  edge_shard add_edges(std::size_t e, part_id part,
                       shard_arrays::edges& arrays) {
    const auto& type = graph_.edges[e];
    arrays.indptr.push_back(0);
    for (auto id : owned(type.destination, part)) {
      const auto& list = type.in[id];
      for (auto from : list) {
        const auto global = out_.to_global[type.source][from];
        if (options_.wide)
          append(arrays.indices, global);
        else
          append(arrays.indices, static_cast<std::int32_t>(global));
      }
      const auto degree = static_cast<std::int64_t>(list.size());
      arrays.indptr.push_back(arrays.indptr.back() + degree);
      arrays.original_begin.push_back(
        graph_.first_edge(static_cast<edge_type_id>(e), id));
      arrays.in_degrees.push_back(static_cast<std::int32_t>(degree));
    }
    std::vector<std::int32_t> out_degrees(graph_.nodes[type.source].count);
    for (const auto& list : type.in)
      for (auto from : list)
        ++out_degrees[from];
    for (auto id : owned(type.source, part))
      arrays.out_degrees.push_back(out_degrees[id]);
    edge_shard out{
      arrays.indptr,
      {arrays.indices.data(), arrays.indptr.back(), options_.wide}};
    if (!plain_)
      out.original_begin = arrays.original_begin;
    out.in_degrees = arrays.in_degrees;
    out.out_degrees = arrays.out_degrees;
    if (!type.weights.empty())
      add_weights(e, part, arrays, out);
    if (!type.levels.empty())
      for (auto id : owned(type.destination, part))
        for (const edge_level level : {0, 1})
          arrays.visible.push_back(static_cast<std::int32_t>(
            std::count_if(type.levels[id].begin(), type.levels[id].end(),
                          [level](edge_level of) { return of <= level; })));
    out.visible = arrays.visible;
    for (auto id : owned(type.destination, part))
      for (std::size_t i = 0;
           type.feature_width != 0 && i < type.features[id].size(); ++i)
        if (options_.half)
          append(arrays.features, to_half(type.features[id][i]));
        else
          append(arrays.features, type.features[id][i]);
    out.features = type.feature_width == 0 ? nullptr : arrays.features.data();
    if (!type.times.empty())
      for (auto id : owned(type.destination, part))
        arrays.times.insert(arrays.times.end(), type.times[id].begin(),
                            type.times[id].end());
    out.times = arrays.times;
    return out;
  }

  void add_weights(std::size_t e, part_id part, shard_arrays::edges& arrays,
                   edge_shard& out) {
    const auto& type = graph_.edges[e];
    std::vector<double> in(type.in.size());
    std::vector<double> from(graph_.nodes[type.source].count);
    for (std::size_t to = 0; to < type.in.size(); ++to)
      for (std::size_t i = 0; i < type.in[to].size(); ++i) {
        in[to] += type.weights[to][i];
        from[type.in[to][i]] += type.weights[to][i];
      }
    for (auto id : owned(type.destination, part)) {
      arrays.weights.insert(arrays.weights.end(), type.weights[id].begin(),
                            type.weights[id].end());
      arrays.in_weights.push_back(static_cast<float>(in[id]));
    }
    for (auto id : owned(type.source, part))
      arrays.out_weights.push_back(static_cast<float>(from[id]));
    out.weights = arrays.weights;
    out.in_weights = arrays.in_weights;
    out.out_weights = arrays.out_weights;
  }

  const test::memory_graph& graph_;
  part_id parts_;
  test::cut_options options_;
  bool plain_;
  std::shared_ptr<const dataset_info> info_;
  std::vector<std::vector<node_id>> offsets_;
  test::cut_graph out_;
};

namespace test {

edge_id memory_graph::first_edge(edge_type_id type, node_id destination) const {
  edge_id sum = 0;
  for (node_id i = 0; i < destination; ++i)
    sum += static_cast<edge_id>(edges[type].in[i].size());
  return sum;
}

cut_graph cut(const memory_graph& graph, part_id parts, const assignment& owner,
              cut_options options) {
  return shard_builder{graph, parts, owner, options, false}.build();
}

cut_graph whole(const memory_graph& graph, cut_options options) {
  const auto owner = random_assignment(graph, 1, 0);
  return shard_builder{graph, 1, owner, options, true}.build();
}

assignment random_assignment(const memory_graph& graph, part_id parts,
                             std::uint64_t seed) {
  assignment owner;
  for (const auto& type : graph.nodes) {
    random_stream draws{seed, owner.size()};
    auto& of_type = owner.emplace_back();
    for (std::int64_t i = 0; i < type.count; ++i)
      of_type.push_back(
        static_cast<part_id>(draws.below(static_cast<std::uint32_t>(parts))));
  }
  return owner;
}

memory_graph cycle(std::int64_t nodes) {
  memory_graph graph;
  graph.nodes.push_back({"node", nodes});
  auto& edges = graph.edges.emplace_back();
  edges.name = "next_to";
  for (std::int64_t i = 0; i < nodes; ++i)
    edges.in.push_back({(i + nodes - 1) % nodes, (i + 1) % nodes});
  return graph;
}

} // namespace test

} // namespace graphmill
