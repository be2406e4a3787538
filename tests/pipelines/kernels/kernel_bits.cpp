// Prints a digest of what the kernels give for fixed numbers. Compiled for
// several instruction sets, it must print the same: kernel_bits_test.py.

#include "messages/base/random.hpp"
#include "partition/files/content_hash.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/age_columns.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/kernels/attention/joint_attention.hpp"
#include "pipelines/kernels/attention/projected_attention.hpp"
#include "pipelines/kernels/edge_relu.hpp"
#include "pipelines/kernels/edge_rows.hpp"
#include "pipelines/kernels/gather_max.hpp"
#include "pipelines/kernels/gather_sum.hpp"
#include "pipelines/kernels/links/link_panels.hpp"
#include "pipelines/kernels/links/link_queries.hpp"
#include "pipelines/kernels/links/link_scores.hpp"
#include "pipelines/kernels/links/link_sums.hpp"
#include "pipelines/kernels/optimizer.hpp"

#include <cstdio>
#include <span>
#include <vector>

using namespace graphmill;

namespace {

using floats = std::vector<float>;

/// Widths below, at and between those that fill vector registers.
constexpr std::int64_t widths[] = {1, 7, 16, 33, 100, 128, 160, 300};
constexpr std::int64_t rows = 60;
constexpr std::int64_t sources = 100;

class printer {
public:
  floats numbers(std::int64_t count) {
    floats out(static_cast<std::size_t>(count));
    for (auto& value : out)
      value = 2 * draws_.uniform() - 1;
    return out;
  }

  void take(const floats& values) {
    hash_.update(std::as_bytes(std::span{values}));
  }

  void print(const char* kernel) const {
    std::printf("%s %s\n", kernel, hash_.digest().c_str());
  }

  /// A block of a graph: up to 12 columns per row.
  struct edges {
    std::vector<std::int64_t> indptr{0};
    std::vector<local_id> columns;
  };
  edges make_edges() {
    edges out;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (auto degree = draws_.below(13); degree > 0; --degree)
        out.columns.push_back(static_cast<local_id>(draws_.below(sources)));
      out.indptr.push_back(std::ssize(out.columns));
    }
    return out;
  }

private:
  random_stream draws_{42, 7};
  content_hash hash_;
};

/// The same edges by source.
struct turned_edges {
  std::vector<std::int64_t> indptr{0};
  std::vector<local_id> columns;
  std::vector<std::int64_t> positions;

  explicit turned_edges(const printer::edges& graph) {
    for (local_id source = 0; source < sources; ++source) {
      for (local_id row = 0; row < rows; ++row)
        for (auto e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e)
          if (graph.columns[e] == source) {
            columns.push_back(row);
            positions.push_back(e);
          }
      indptr.push_back(std::ssize(columns));
    }
  }
  transposed_edges view() const {
    return {indptr.data(), columns.data(), positions.data()};
  }
};

void sums(printer& out) {
  const auto graph = out.make_edges();
  for (const auto width : widths) {
    const auto x = out.numbers(sources * width);
    const auto row_scale = out.numbers(rows);
    const auto column_scale = out.numbers(sources);
    for (const auto scaled : {false, true})
      for (const auto accumulate : {std::int64_t{0}, rows / 2}) {
        auto sum = out.numbers(rows * width);
        run({.indptr = graph.indptr.data(),
             .columns = graph.columns.data(),
             .x = {x.data(), sources, width},
             .row_scale = row_scale.data(),
             .column_scale = scaled ? column_scale.data() : nullptr},
            0, rows, accumulate, {sum.data(), rows, width});
        out.take(sum);
      }
  }
}

void edge_relus(printer& out) {
  const auto graph = out.make_edges();
  const turned_edges back{graph};
  const auto edges = std::ssize(graph.columns);
  for (const auto width : widths)
    for (const auto features : {std::int64_t{3}, std::int64_t{16}}) {
      const auto x = out.numbers(sources * width);
      const auto of_edges = out.numbers(edges * features);
      const auto gradient = out.numbers(rows * width);
      const auto weight = out.numbers(features * width);
      const auto bias = out.numbers(width);
      const auto padded = edge_relu_weight({weight.data(), features, width},
                                           bias.data(), buffer_pool::make(0));
      std::vector<std::uint8_t> signs(
        static_cast<std::size_t>(edges * edge_relu_bytes(width)));
      const edge_relu task{.indptr = graph.indptr.data(),
                           .columns = graph.columns.data(),
                           .x = {x.data(), sources, width},
                           .features = {of_edges.data(), edges, features},
                           .weight = padded.view(),
                           .self = 1.5f,
                           .signs = signs.data()};
      floats of_rows(static_cast<std::size_t>(rows * width));
      run(task, 0, rows, {of_rows.data(), rows, width});
      floats of_sources(x.size());
      edge_relu_sources_backward(task, back.view(),
                                 {gradient.data(), rows, width}, 0, sources,
                                 sources, {of_sources.data(), sources, width});
      const auto shape = padded.view();
      floats of_weight(static_cast<std::size_t>(shape.size()));
      edge_relu_backward(task, {gradient.data(), rows, width}, 0, rows,
                         {of_weight.data(), shape.rows, shape.columns});
      floats of_features(static_cast<std::size_t>(edges * 2));
      edge_relu_features_backward(task, {gradient.data(), rows, width},
                                  features - 2, 0, rows,
                                  {of_features.data(), edges, 2});
      for (const auto* part : {&of_rows, &of_sources, &of_weight, &of_features})
        out.take(*part);
    }
}

/// What edges bring by their ages, and sums of that.
void ages_of_edges(printer& out) {
  const auto graph = out.make_edges();
  const auto edges = std::ssize(graph.columns);
  auto ages = out.numbers(edges);
  for (auto& age : ages)
    age = 1e6f * (1 + age);
  for (const auto width : widths) {
    const auto logs = out.numbers(width);
    const auto phases = out.numbers(width);
    const age_columns task{
      ages.data(), 0.5, {logs.data(), 1, width}, {phases.data(), 1, width}};
    floats columns(static_cast<std::size_t>(edges * width));
    const matrix view{columns.data(), edges, width};
    task.run(0, edges, 0, view);
    out.take(columns);
    const auto row_scale = out.numbers(rows);
    const auto column_scale = out.numbers(sources);
    const edge_sum sum{.indptr = graph.indptr.data(),
                       .columns = graph.columns.data(),
                       .x = view,
                       .row_scale = row_scale.data(),
                       .column_scale = column_scale.data()};
    floats sums(static_cast<std::size_t>(rows * width));
    run(sum, 0, rows, {sums.data(), rows, width});
    out.take(sums);
    edge_sum_backward(sum, {sums.data(), rows, width}, 0, rows, view);
    out.take(columns);
    std::vector<double> of_learnt(static_cast<std::size_t>(2 * task.lanes()));
    task.backward(view, 0, edges, of_learnt.data());
    out.take(floats(of_learnt.begin(), of_learnt.end()));
    const auto shares = out.numbers(edges * 2);
    const auto of_heads = out.numbers(rows * 2 * width);
    add_shares_of_rows(graph.indptr.data(), shares.data(), 2,
                       {of_heads.data(), rows, 2 * width}, 0, 0, rows, view);
    out.take(columns);
  }
}

void weighted_sums(printer& out) {
  const auto graph = out.make_edges();
  for (const auto width : widths) {
    const auto x = out.numbers(sources * width);
    const auto column_scale = out.numbers(sources);
    const auto weights = out.numbers(std::ssize(graph.columns));
    for (const auto scaled : {false, true})
      for (const auto accumulate : {std::int64_t{0}, rows / 2}) {
        auto sum = out.numbers(rows * width);
        run({.indptr = graph.indptr.data(),
             .columns = graph.columns.data(),
             .x = {x.data(), sources, width},
             .column_scale = scaled ? column_scale.data() : nullptr,
             .values = weights.data()},
            0, rows, accumulate, {sum.data(), rows, width});
        out.take(sum);
      }
  }
}

void maxima(printer& out) {
  const auto graph = out.make_edges();
  for (const auto width : widths) {
    const auto x = out.numbers(sources * width);
    floats best(static_cast<std::size_t>(rows * width));
    std::vector<local_id> winners(best.size());
    run({.indptr = graph.indptr.data(),
         .columns = graph.columns.data(),
         .x = {x.data(), sources, width}},
        0, rows, {best.data(), rows, width}, winners.data());
    out.take(best);
    out.take({winners.begin(), winners.end()});
    // Any CSR does for the way back: 60 sources of 60 destinations.
    auto back = graph;
    for (auto& column : back.columns)
      column %= rows;
    const auto gradient = out.numbers(rows * width);
    auto sum = out.numbers(rows * width);
    run({.indptr = back.indptr.data(),
         .columns = back.columns.data(),
         .winners = winners.data(),
         .gradient = {gradient.data(), rows, width}},
        0, rows, rows / 2, {sum.data(), rows, width});
    out.take(sum);
  }
}

void activations(printer& out) {
  for (const auto width : widths)
    for (const auto kind :
         {activation::none, activation::relu, activation::elu}) {
      auto x = out.numbers(rows * width);
      const auto bias = out.numbers(width);
      const dropout drop{99, 5, dropout_threshold(0.3)};
      activate({x.data(), rows, width}, bias.data(), kind, drop, 0, rows,
               {x.data(), rows, width});
      out.take(x);
      auto gradient = out.numbers(rows * width);
      activate_backward({x.data(), rows, width}, kind, drop.scale(), 0, rows,
                        {gradient.data(), rows, width});
      out.take(gradient);
    }
  for (const auto width : widths) {
    const auto x = out.numbers(rows * width);
    auto y = x;
    gelu({x.data(), rows, width}, 0, rows, {y.data(), rows, width});
    out.take(y);
    gelu_backward({x.data(), rows, width}, 0.7f, 0, rows,
                  {y.data(), rows, width});
    out.take(y);
  }
}

/// Rows of z as they are summed after dropout.
floats messages_of(const floats& z, std::int64_t width, const dropout& drop) {
  floats messages(z.size());
  activate({z.data(), sources, width}, nullptr, activation::none, drop, 0,
           sources, {messages.data(), sources, width});
  return messages;
}

void attentions(printer& out, const dropout& drop) {
  const auto graph = out.make_edges();
  const turned_edges back{graph};
  const auto edges = std::ssize(graph.columns);
  for (const std::int64_t heads : {1, 3, 8})
    for (const std::int64_t each : {1, 5, 8, 16, 29, 64}) {
      const auto width = heads * each;
      const auto z = out.numbers(sources * width);
      const auto vector = out.numbers(width);
      floats scores(static_cast<std::size_t>(sources * heads));
      head_products({z.data(), sources, width}, vector.data(), heads, 0,
                    sources, scores.data());
      out.take(scores);
      floats weights(static_cast<std::size_t>(edges * heads));
      floats own(static_cast<std::size_t>(rows * heads));
      const auto messages = messages_of(z, width, drop);
      const attention task{
        .indptr = graph.indptr.data(),
        .columns = graph.columns.data(),
        .rows = rows,
        .z = {z.data(), sources, width},
        .heads = heads,
        .source_scores = scores.data(),
        .destination_scores = scores.data(),
        .weights = weights.data(),
        .self_weights = own.data(),
        .messages = {drop.threshold != 0 ? messages.data() : nullptr, sources,
                     width},
        .message_scale = drop.scale()};
      floats sum(static_cast<std::size_t>(rows * width));
      attend(task, 0, rows, {sum.data(), rows, width});
      out.take(sum);
      const auto gradient = out.numbers(rows * width);
      floats of_edges(weights.size()), of_self(own.size()), of_rows(own.size());
      attend_backward(task, {gradient.data(), rows, width}, 0, rows,
                      {of_edges.data(), of_self.data(), of_rows.data()});
      floats of_sources(scores.size()), of_z(z.size());
      attend_sources_backward(
        task, back.view(), {of_edges.data(), of_self.data(), of_rows.data()},
        {gradient.data(), rows, width}, vector.data(), vector.data(), 0,
        sources, of_sources.data(), {of_z.data(), sources, width});
      floats of_vector(vector.size());
      add_head_sums(task.z, of_sources.data(), heads, 0, sources,
                    of_vector.data());
      for (const auto* part :
           {&of_edges, &of_self, &of_rows, &of_sources, &of_z, &of_vector})
        out.take(*part);
    }
}

/// Joint scores, with rows that edges bring and without, and with dropout of
/// weights and messages and without.
void joint_attention_of(printer& out, std::int64_t heads, std::int64_t each,
                        bool with_edges, bool drops) {
  const auto graph = out.make_edges();
  const turned_edges back{graph};
  const auto edges = std::ssize(graph.columns);
  const auto width = heads * each;
  const auto z = out.numbers(sources * width);
  const auto y = out.numbers(rows * width);
  const auto vector = out.numbers(width);
  floats weights(static_cast<std::size_t>(edges * heads));
  floats own(static_cast<std::size_t>(rows * heads));
  auto dropped_weights = weights;
  auto dropped_own = own;
  const dropout drop{7, 3, 20000};
  const auto messages = messages_of(z, width, drop);
  auto brought = out.numbers(with_edges ? edges * width : 0);
  joint_attention task{.base = {.indptr = graph.indptr.data(),
                                .columns = graph.columns.data(),
                                .rows = rows,
                                .z = {z.data(), sources, width},
                                .heads = heads,
                                .weights = weights.data(),
                                .self_weights = own.data()},
                       .y = {y.data(), rows, width},
                       .vector = vector.data()};
  if (drops) {
    task.base.drop = {7, 1, 20000};
    task.base.drop_self = {7, 2, 20000};
    task.base.dropped_weights = dropped_weights.data();
    task.base.dropped_self = dropped_own.data();
    task.base.messages = {messages.data(), sources, width};
    task.base.message_scale = drop.scale();
  }
  if (with_edges)
    task.base.edges = {brought.data(), edges, width};
  floats sum(static_cast<std::size_t>(rows * width));
  attend_jointly(task, 0, rows, {sum.data(), rows, width});
  out.take(sum);
  const auto gradient = out.numbers(rows * width);
  floats of_edges(weights.size()), of_self(own.size());
  floats of_y(y.size()), of_vector(vector.size());
  std::vector<std::uint8_t> signs(
    static_cast<std::size_t>(edges * joint_sign_bytes(width, heads)));
  const joint_gradients all{
    .scores = {of_edges.data(), of_self.data(), nullptr},
    .y = {of_y.data(), rows, width},
    .vector = of_vector.data(),
    .edges = with_edges ? matrix{brought.data(), edges, width} : matrix{},
    .signs = signs.data()};
  attend_jointly_backward(task, {gradient.data(), rows, width}, 0, rows, all);
  floats of_z(z.size());
  attend_jointly_sources_backward(task, back.view(), all,
                                  {gradient.data(), rows, width}, 0, sources,
                                  {of_z.data(), sources, width});
  for (const auto* part :
       {&of_edges, &of_self, &of_y, &of_vector, &of_z, &brought})
    out.take(*part);
}

void joint_attentions(printer& out) {
  for (const std::int64_t heads : {1, 3, 8})
    for (const std::int64_t each : {1, 5, 16, 29, 90})
      for (const auto with_edges : {false, true})
        for (const auto drops : {false, true})
          joint_attention_of(out, heads, each, with_edges, drops);
}

/// What one relation works on, with and without dropout, and with features and
/// weights of edges.
struct projected_part {
  projected_part(printer& out, std::int64_t heads, std::int64_t width,
                 std::uint32_t threshold)
    : graph(out.make_edges()), back(graph), keys(out.numbers(sources * width)),
      values(out.numbers(sources * width)), queries(out.numbers(rows * width)),
      weights(graph.columns.size() * static_cast<std::size_t>(heads)),
      dropped(weights), sums(queries.size()),
      upstream(out.numbers(rows * width)), of_scores(weights.size()),
      of_queries(queries.size()), of_keys(keys.size()),
      of_values(keys.size()), work{.indptr = graph.indptr.data(),
                                   .columns = graph.columns.data(),
                                   .keys = {keys.data(), sources, width},
                                   .values = {values.data(), sources, width},
                                   .queries = {queries.data(), rows, width},
                                   .weights = weights.data(),
                                   .drop = {7, 1, threshold},
                                   .dropped_weights =
                                     threshold != 0 ? dropped.data() : nullptr,
                                   .sums = {sums.data(), rows, width}},
      through{{upstream.data(), rows, width},
              of_scores.data(),
              {of_queries.data(), rows, width}} {}
  projected_part(const projected_part&) = delete;

  void add_features(printer& out, std::int64_t heads, std::int64_t any) {
    const auto edges = std::ssize(graph.columns);
    features = out.numbers(edges * any);
    logs = out.numbers(edges);
    edge_queries = out.numbers(rows * heads * any);
    edge_upstream = out.numbers(rows * heads * any);
    feature_sums.resize(edge_queries.size());
    of_edge_queries.resize(edge_queries.size());
    work.features = {features.data(), edges, any};
    work.log_weights = logs.data();
    work.edge_queries = {edge_queries.data(), rows, heads * any};
    work.feature_sums = {feature_sums.data(), rows, heads * any};
    through.feature_sums = {edge_upstream.data(), rows, heads * any};
    through.edge_queries = {of_edge_queries.data(), rows, heads * any};
  }

  printer::edges graph;
  turned_edges back;
  floats keys, values, queries, weights, dropped, sums, upstream;
  floats of_scores, of_queries, of_keys, of_values;
  floats features, logs, edge_queries, edge_upstream, feature_sums,
    of_edge_queries;
  projected_attention::relation work;
  projected_gradients through;
};

void projected_attentions(printer& out) {
  for (const std::int64_t heads : {1, 3, 8})
    for (const std::int64_t each : {1, 5, 16, 29}) {
      const auto width = heads * each;
      projected_part plain{out, heads, width, 0};
      projected_part dropping{out, heads, width, 20000};
      projected_part featured{out, heads, width, 20000};
      featured.add_features(out, heads, each);
      const projected_attention::relation work[]{plain.work, dropping.work,
                                                 featured.work};
      const projected_gradients through[]{plain.through, dropping.through,
                                          featured.through};
      const projected_attention task{work, rows, heads};
      attend_across(task, 0, rows);
      attend_across_backward(task, 0, rows, through);
      for (auto* part : {&plain, &dropping, &featured}) {
        attend_across_sources_backward(
          part->work, heads, part->back.view(), part->through, 0, sources,
          {part->of_keys.data(), sources, width},
          {part->of_values.data(), sources, width});
        for (const auto* numbers :
             {&part->weights, &part->sums, &part->of_scores, &part->of_queries,
              &part->of_keys, &part->of_values, &part->feature_sums,
              &part->of_edge_queries})
          out.take(*numbers);
      }
    }
}

void steps(printer& out) {
  for (const auto kind :
       {optimizer_kind::adam, optimizer_kind::adamw, optimizer_kind::sgd}) {
    definition::optimizer_section how;
    how.kind = kind;
    how.weight_decay = 0.01;
    how.momentum = 0.9;
    model_layout layout;
    layout.parameters.push_back({"w", {1003}, start::zeros, 0, 0, 1003});
    layout.dense_size = 1003;
    optimizer steps{how, layout};
    parameter_store weights;
    weights.dense.append(std::span<const float>{out.numbers(1003)});
    for (int step = 0; step < 20; ++step) {
      gradient_set gradients;
      gradients.dense.append(std::span<const float>{out.numbers(1003)});
      steps.apply(gradients, 0.01, weights);
    }
    out.take({weights.dense.begin(), weights.dense.end()});
  }
}

void link_comparisons(printer& out) {
  const auto graph = out.make_edges();
  for (const std::int64_t width : {2, 6, 16, 34, 100, 128, 300})
    for (const auto how : {comparison::product, comparison::absolute,
                           comparison::euclidean, comparison::modulus}) {
      const auto a = out.numbers(rows * width);
      const auto b = out.numbers(sources * width);
      const const_matrix as{a.data(), rows, width};
      const const_matrix bs{b.data(), sources, width};
      floats scores(static_cast<std::size_t>(rows * sources));
      compare_all(how, as, bs, 0, rows, {scores.data(), rows, sources});
      out.take(scores);
      const auto weights = out.numbers(std::ssize(graph.columns));
      floats sum(a.size());
      add_gradients({.how = how,
                     .a = as,
                     .b = bs,
                     .indptr = graph.indptr.data(),
                     .columns = graph.columns.data(),
                     .weights = weights.data()},
                    0, rows, matrix{sum.data(), rows, width});
      out.take(sum);
    }
}

void queries_of_links(printer& out) {
  std::vector<local_id> ends;
  std::vector<std::int32_t> relations;
  for (local_id i = 0; i < rows; ++i) {
    ends.push_back(i * 7 % static_cast<local_id>(sources));
    relations.push_back(i % 3);
  }
  for (const std::int64_t width : {2, 6, 34, 100, 128})
    for (const auto kind :
         {decoder_kind::distmult, decoder_kind::complex, decoder_kind::transe})
      for (const auto side : {query_side::source, query_side::destination}) {
        const auto nodes = out.numbers(sources * width);
        const auto vectors = out.numbers(3 * width);
        const link_queries task{.kind = kind,
                                .side = side,
                                .nodes = {nodes.data(), sources, width},
                                .ends = ends,
                                .relations = {vectors.data(), 3, width},
                                .relation_of = relations};
        floats made(static_cast<std::size_t>(rows * width));
        make_queries(task, 0, rows, {made.data(), rows, width});
        out.take(made);
        floats of_relations(vectors.size());
        add_relation_gradients(task, {made.data(), rows, width},
                               {of_relations.data(), 3, width});
        out.take(of_relations);
        end_gradients(task, 0, rows, {made.data(), rows, width});
        out.take(made);
      }
}

void rankings_of_links(printer& out) {
  for (const std::int64_t width : {2, 34, 100}) {
    const auto a = out.numbers(rows * width);
    const auto b = out.numbers(sources * width);
    const auto panels = panels_of(sources);
    const auto columns = panels * panel_nodes;
    floats laid(static_cast<std::size_t>(columns * width));
    make_panels({b.data(), sources, width}, 0, panels, laid.data());
    floats scores(static_cast<std::size_t>(rows * columns));
    multiply_panels({a.data(), rows, width}, laid.data(), panels,
                    {scores.data(), rows, columns});
    out.take(scores);
    floats met;
    for (int kind = 0; kind < 5; ++kind)
      for (std::int64_t i = 0; i < rows; ++i) {
        met_negatives ranks;
        loss_sums sums;
        const link_loss_shape shape{static_cast<link_loss>(kind), 0.5, 2};
        const auto* row = scores.data() + i * columns;
        const auto found = meet_negatives(row, columns, 0.1f, ranks);
        add_loss_terms(shape, 0.1f, row, columns, found, sums);
        met.push_back(static_cast<float>(ranks.doubled_rank()));
        met.push_back(static_cast<float>(sums.terms));
        met.push_back(static_cast<float>(sums.weights));
      }
    out.take(met);
  }
}

} // namespace

int main() {
  printer out;
  sums(out);
  out.print("sums");
  maxima(out);
  out.print("maxima");
  activations(out);
  out.print("activations");
  attentions(out, {});
  attentions(out, {7, 3, 20000});
  out.print("attention");
  joint_attentions(out);
  out.print("joint-attention");
  projected_attentions(out);
  out.print("projected-attention");
  steps(out);
  out.print("optimizer");
  weighted_sums(out);
  out.print("weighted-sums");
  link_comparisons(out);
  queries_of_links(out);
  rankings_of_links(out);
  out.print("links");
  edge_relus(out);
  out.print("edge-relu");
  ages_of_edges(out);
  out.print("edge-ages");
  return 0;
}
