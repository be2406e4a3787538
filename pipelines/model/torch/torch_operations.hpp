#pragma once

#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/matrix.hpp"
#include "pipelines/model/passes/relation_pass.hpp"

#include <ATen/ATen.h>

#include <cstdint>

namespace graphmill {

/// The edges of the first rows of a relation on a device, one entry each.
struct edge_tensors {
  at::Tensor sources;      ///< [edges] int64
  at::Tensor destinations; ///< [edges] int64, ascending
  std::int64_t rows = 0;
  at::Tensor weights = {}; ///< [edges, 1] Undefined: all are 1.
};
edge_tensors edges_on(const at::Device& device, const csr& edges,
                      std::int64_t rows);

/// A copy on the device.
at::Tensor tensor_on(const at::Device& device, const_matrix from);

/// Rows of features in the form in which batches hold them, as a copy on the
/// device with all their zeros. [rows, form.width]
at::Tensor features_on(const at::Device& device, const row_form& form,
                       const float* from, std::int64_t rows);

/// Sums rows of `values` by destination. [rows, as values]
at::Tensor sum_by(const at::Tensor& destinations, const at::Tensor& values,
                  std::int64_t rows);

/// The softmax of scores over the entries of each row. [entries, heads]
/// @param to [entries] The rows.
at::Tensor softmax_by(const at::Tensor& scores, const at::Tensor& to,
                      std::int64_t rows);

/// The message m(h) of `relation_scales`, with the weights of edges that have
/// some, [rows, width of h].
/// @param epsilon [1] As in `relation_pass::setting`; undefined: none.
at::Tensor sum_messages(const at::Tensor& h, const edge_tensors& edges,
                        const relation_scales& scales,
                        const at::Tensor& epsilon);

/// The largest value of each column over the edges of a row, zeros without any;
/// of equal ones the first edge's, which alone has a gradient. A NaN counts
/// as infinite, so that none is lost. [rows, width of h]
at::Tensor largest_messages(const at::Tensor& h, const edge_tensors& edges);

/// What graph attention works by besides the edges.
struct attention_terms {
  at::Tensor source;      ///< [heads, width of one]
  at::Tensor destination; ///< The same; undefined for joint scores,
  at::Tensor y;           ///< for which this is [rows, heads * width of one].
  dropout drop;           ///< Of weights of edges,
  dropout drop_self;      ///< and of nodes for themselves.
  dropout drop_messages;  ///< Of what is summed, behind the scores.
  bool average = false;   ///< Heads, which lie side by side otherwise.
};

/// Graph attention over the edges and the nodes themselves.
/// @param z [rows of the input, heads * width of one]
at::Tensor attend(const at::Tensor& z, const attention_terms& terms,
                  const edge_tensors& edges);

/// Graph attention over the edges alone. @param source [heads, width of one]
/// @param own_scores [rows, heads] Of the destinations.
/// @param weights_dropped Which weights of edges are dropped.
at::Tensor attend_by_relation(const at::Tensor& z, const at::Tensor& source,
                              const at::Tensor& own_scores,
                              const edge_tensors& edges,
                              const dropout& weights_dropped, bool average);

/// `x` with the elements dropped that `activate` drops, the others scaled.
at::Tensor drop(const at::Tensor& x, const dropout& options);

} // namespace graphmill
