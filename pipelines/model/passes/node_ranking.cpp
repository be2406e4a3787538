#include "pipelines/model/passes/node_ranking.hpp"

#include "pipelines/kernels/links/link_sums.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

namespace {

/// A block of scores: it fits into the cache of a core.
constexpr std::int64_t block_rows = 128;
constexpr std::int64_t block_nodes = 512;

/// A node that is no candidate of a row.
struct left_out {
  local_id place = 0;   ///< In the list of candidates.
  bool grouped = false; ///< Another link of the row's group.
};

/// Of all rows that a thread ranks together, unless one has more: 16 MiB.
constexpr std::size_t most_left_out = std::size_t{1} << 21;

/// What a row has met so far.
struct ranked_row {
  std::array<met_negatives, 2> met; ///< Destinations, sources.
  met_negatives within;             ///< Other links of the row's group.
  loss_sums loss;
  float edge = 0; ///< The score of the row.
};

class ranking {
public:
  explicit ranking(const node_ranking& task)
    : task_(task), full_(*task.batch->full),
      rows_(static_cast<std::size_t>(task.rows->count())) {}

  link_ranks run() {
    meet_own();
    for (const auto& list : task_.rows->full) {
      task_.scorer->begin_ranking(list);
      task_.team->for_pieces(
        std::ssize(list.rows), block_rows,
        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
          meet_some(list, std::span{list.rows}.subspan(
                            static_cast<std::size_t>(begin),
                            static_cast<std::size_t>(end - begin)));
        });
    }
    return results();
  }

private:
  /// Negatives of an end that has some of its own.
  void meet_own() {
    const auto& slots = task_.rows->slots;
    const auto split = 1 + slots.wrong_destinations;
    std::vector<float> scores;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto* row = task_.logits.row(static_cast<std::int64_t>(i));
      rows_[i].edge = row[0];
      const auto take = [&](std::size_t end, std::int64_t from,
                            std::int64_t to) {
        scores.assign(row + from, row + to);
        scores.resize((scores.size() + 7) / 8 * 8, no_score);
        meet_block(rows_[i], end, row[0], scores.data(), std::ssize(scores));
      };
      take(0, 1, split);
      take(1, split, slots.own());
    }
  }

  void meet_block(ranked_row& row, std::size_t end, float edge,
                  const float* scores, std::int64_t count) const {
    const auto found = meet_negatives(scores, count, edge, row.met[end]);
    add_loss_terms(task_.loss, edge, scores, count, found, row.loss);
  }

  std::span<const node_id> known_of(const link_rows::full_list& list,
                                    std::size_t row) const {
    if (full_.known.empty())
      return {};
    return full_.known[2 * row + (list.sources ? 1 : 0)];
  }

  /// Ascending.
  std::vector<left_out> left_out_of(const link_rows::full_list& list,
                                    std::size_t row) const {
    const auto end = list.sources ? 1U : 0U;
    const auto own = task_.batch->locals[row * task_.batch->columns + 1 - end];
    const auto known = known_of(list, row);
    std::span<const node_id> group;
    if (end == 0 && !full_.groups.empty())
      group = full_.groups[row];
    std::vector<left_out> out;
    out.reserve(known.size() + 1);
    out.push_back({own, false});
    auto other = group.begin();
    for (const auto node : known) {
      other = std::lower_bound(other, group.end(), node);
      const auto place = full_.nodes->original(list.type, node);
      if (place != own)
        out.push_back({place, other != group.end() && *other == node});
    }
    std::sort(out.begin(), out.end(), [](const left_out& a, const left_out& b) {
      return a.place < b.place;
    });
    return out;
  }

  /// Has rows meet all candidates of a list, in as many goes as it takes.
  void meet_some(const link_rows::full_list& list,
                 std::span<const std::int32_t> rows) {
    std::vector<std::size_t> known;
    for (const auto row : rows)
      known.push_back(known_of(list, static_cast<std::size_t>(row)).size());
    for (std::size_t from = 0; from < rows.size();) {
      const auto count = ranked_together(std::span{known}.subspan(from));
      meet(list, rows.subspan(from, count));
      from += count;
    }
  }

  /// All candidates of some rows of a list.
  void meet(const link_rows::full_list& list,
            std::span<const std::int32_t> rows) {
    const auto end = list.sources ? 1U : 0U;
    std::vector<float> edges(rows.size());
    task_.scorer->score_own_nodes(rows, edges.data());
    std::vector<std::vector<left_out>> missing;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      missing.push_back(left_out_of(list, row));
      rows_[row].edge = edges[i]; // As scores of candidates are made.
    }
    std::vector<std::size_t> next(rows.size());
    owned_matrix scores{std::ssize(rows), block_nodes, task_.pool};
    const auto block = scores.view();
    for (std::int64_t begin = 0; begin < list.count; begin += block_nodes) {
      task_.scorer->score_nodes(rows, begin, block);
      const auto count = std::min(block_nodes, list.count - begin);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& row = rows_[static_cast<std::size_t>(rows[i])];
        auto* of_row = block.row(static_cast<std::int64_t>(i));
        auto& at = next[i];
        for (; at < missing[i].size() && missing[i][at].place < begin + count;
             ++at) {
          auto& score = of_row[missing[i][at].place - begin];
          if (missing[i][at].grouped)
            meet_one(score, edges[i], row.within);
          score = no_score;
        }
        std::fill(of_row + count, of_row + block_nodes, no_score);
        meet_block(row, end, edges[i], of_row, block_nodes);
      }
    }
  }

  static void meet_one(float score, float edge, met_negatives& out) {
    std::array<float, 8> scores;
    scores.fill(no_score);
    scores[0] = score;
    meet_negatives(scores.data(), std::ssize(scores), edge, out);
  }

  link_ranks results() const {
    const auto& slots = task_.rows->slots;
    const std::array ranked{full_.destinations || slots.wrong_destinations > 0,
                            full_.sources || slots.wrong_sources > 0};
    link_ranks out;
    out.relations = task_.batch->relations;
    out.losses.seeds = std::ssize(rows_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& row = rows_[i];
      for (const auto end : {0U, 1U}) {
        if (!ranked[end])
          continue;
        (end == 0 ? out.destinations : out.sources)
          .push_back(row.met[end].doubled_rank());
        out.tied += row.met[end].equal != 0;
      }
      if (!full_.groups.empty() && !full_.groups[i].empty())
        out.groups.push_back(
          {static_cast<std::int32_t>(full_.groups[i].size()),
           2 + 2 * (row.met[0].not_less() + row.within.not_less())});
      out.losses.loss_sum += loss_of(task_.loss, row.edge, row.loss);
    }
    return out;
  }

  const node_ranking& task_;
  const full_ranking& full_;
  std::vector<ranked_row> rows_;
};

} // namespace

link_ranks rank_among_all(const node_ranking& task) {
  return ranking{task}.run();
}

std::size_t ranked_together(std::span<const std::size_t> known) {
  std::size_t count = 0;
  std::size_t entries = 0;
  for (; count < known.size(); ++count) {
    entries += known[count] + 1; // And the row's own node.
    if (count > 0 && entries > most_left_out)
      break;
  }
  return count;
}

std::uint64_t ranked_list_bytes(std::int64_t rows, std::int64_t candidates,
                                std::int64_t threads) {
  const auto of_row = std::uint64_t(candidates) + 1;
  const auto together =
    std::uint64_t(std::clamp<std::int64_t>(rows, 0, block_rows));
  const auto at_once =
    std::uint64_t(std::min(threads, (rows + block_rows - 1) / block_rows));
  return at_once * sizeof(left_out)
         * std::min(together * of_row,
                    std::max<std::uint64_t>(most_left_out, of_row));
}

} // namespace graphmill
