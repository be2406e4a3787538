#pragma once

#include "messages/wire/data.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

// Whole batches as messages; data.capnp says what they mean. No actors.

namespace graphmill {

/// Asks for a batch.
/// @param ids_bytes Set to the size of the ids that are sent.
/// @param batch Which one it is, for who looks on.
result<payload> batch_question(const std::string& run, std::uint64_t key,
                               batch_kind kind, const dataset_info& info,
                               const batch_seeds& seeds,
                               std::uint64_t& ids_bytes,
                               std::optional<batch_key> batch = {});

/// What a batch that another daemon asks for is sampled around. Fails with
/// `invalid_argument` if there are more seeds than `most`, seeds or edges to
/// exclude of another number of types than the dataset has, or such edges in no
/// order. Whether ids exist is for the sampler to say.
result<batch_seeds> read_batch_seeds(const dataset_info& info,
                                     const batch_request& request,
                                     const payload& from, std::uint64_t most);

/// The answer with a batch, or one that says that the batch is too large for a
/// message. Large arrays are not copied.
result<payload> batch_answer(const dataset_info& info,
                             std::shared_ptr<const sampled_subgraph> batch);

/// Reads an answer that is not too large. Fails unless it is a neighbourhood of
/// these seeds by this plan, as far as that can be told without the graph:
/// types, hops, ids that exist, rows that fit, local ids that their hop knows.
result<sampled_subgraph>
read_batch(const dataset_info& info, const sampling_scheme& scheme,
           const batch_seeds& seeds, const batch_reply& reply,
           const payload& from, const std::shared_ptr<buffer_pool>& pool);

} // namespace graphmill
