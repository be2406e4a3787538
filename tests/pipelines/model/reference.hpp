#pragma once

#include "messages/definition/definition.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/model_layout.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace graphmill::test {

/// The models of the definition once more: in doubles, node by node, without
/// any kernel. What the fused ones are checked against.
class reference_model {
public:
  using rows = std::vector<std::vector<double>>;

  reference_model(const model_layout& layout, const minibatch& batch,
                  bool layer_norm);

  /// Parameters and tables by name, flat.
  std::map<std::string, std::vector<double>> values;
  bool training = false;
  std::uint64_t key = 0;
  std::vector<double> class_weights; ///< Empty: all are 1.
  double smoothing = 0;
  /// Logits that the weights of self_adversarial are made of, which count as
  /// constants; empty: those of the loss.
  rows weighing;

  /// [seeds][classes]; in tasks of edges [rows][classes], or [rows][slots] with
  /// minus infinity for negatives that do not exist.
  rows logits() const;
  /// Sum of the seeds' cross-entropies, weighted and smoothed as the fields
  /// below say, over the step's seeds.
  double loss() const;

private:
  rows inputs(std::size_t type) const;
  rows layer(int l, std::size_t type, const std::vector<rows>& in) const;
  double score(int l, const std::vector<double>& z,
               const std::vector<double>& y, const std::vector<double>& edge,
               std::int64_t h, std::int64_t width) const;
  std::vector<double> edge_row(std::size_t relation, std::int64_t e) const;
  std::vector<double> brought(int l, std::size_t relation, std::int64_t e,
                              std::int64_t width) const;
  rows attention(int l, const rows& in, std::int64_t count) const;
  double divisor(node_type_id type, std::int64_t i) const;
  void message(int l, std::size_t relation, const std::vector<rows>& in,
               std::int64_t i, std::vector<double>& sum) const;
  void propagate(std::size_t relation, const rows& source, std::int64_t i,
                 std::vector<double>& sum) const;
  std::vector<double> relational(int l, std::size_t relation,
                                 const rows& source,
                                 const std::vector<double>& own,
                                 std::int64_t i) const;
  std::vector<double> transformed(int l, std::size_t type,
                                  const std::vector<rows>& in,
                                  std::int64_t i) const;
  std::vector<double> maximum(int l, std::size_t relation, const rows& source,
                              std::int64_t i) const;
  rows edge_logits(const std::vector<rows>& outputs) const;
  std::vector<double> edge_scores(std::size_t relation,
                                  const std::vector<double>& h,
                                  const std::vector<double>& t,
                                  const std::vector<double>& edge = {}) const;
  double link_loss_of(const std::vector<double>& scores,
                      const std::vector<double>& weighing) const;
  void drop(int layer, std::size_t type, rows& values) const;

  const model_layout& layout_;
  const minibatch& batch_;
  bool layer_norm_;
};

} // namespace graphmill::test
