#include "partition/dataset/inspection/inspect_findings.hpp"

#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/files/half.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// The elements of an array whose type was checked when it was opened.
template <class T>
std::span<const T> elements(const npy_array& array) {
  return {reinterpret_cast<const T*>(array.data()),
          static_cast<std::size_t>(array.size())};
}

template <class T, class Widen>
void find_not_finite(const char* row, const npy_array& features, Widen widen,
                     findings& out) {
  finding bad;
  const auto values = elements<T>(features);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = widen(values[i]);
    if (!std::isfinite(value))
      bad.add([&] {
        const auto width = static_cast<std::size_t>(features.shape()[1]);
        return fmt::format("{} {}, column {} is {}", row, i / width, i % width,
                           value);
      });
  }
  bad.report(features, out);
}

} // namespace

void finding::report(const npy_array& where,
                     std::vector<std::string>& out) const {
  if (count_ == 0)
    return;
  auto text = fmt::format("{}: {}", where.path().string(), first_);
  if (count_ > 1)
    text += fmt::format(" (and {} more)", count_ - 1);
  out.push_back(std::move(text));
}

void find_bad_features(const char* row, const npy_array& features,
                       findings& out) {
  features.file().advise_sequential();
  if (features.type() == dtype::float16)
    find_not_finite<std::uint16_t>(row, features, from_half, out);
  else
    find_not_finite<float>(
      row, features, [](float value) { return value; }, out);
}

void find_bad_sparse_features(const node_type_info& type,
                              const dataset::sparse_arrays& features,
                              findings& out) {
  for (const auto* array : features.all())
    array->file().advise_sequential();
  const auto indptr = features.rows();
  if (!indptr) {
    out.push_back(indptr.error().message);
    return;
  }
  const auto columns = elements<std::int32_t>(features.indices);
  const auto half = type.feature_type == dtype::float16;
  const auto value = [&](std::size_t i) {
    return half ? from_half(elements<std::uint16_t>(features.values)[i])
                : elements<float>(features.values)[i];
  };
  finding full;
  finding astray;
  finding infinite;
  for (std::size_t node = 0; node + 1 < indptr.value().size(); ++node) {
    const auto from = static_cast<std::size_t>(indptr.value()[node]);
    const auto to = static_cast<std::size_t>(indptr.value()[node + 1]);
    if (static_cast<std::int64_t>(to - from) > type.most_row_entries)
      full.add([&] {
        return fmt::format("node {} has {} values; dataset.json says {} at the "
                           "most",
                           node, to - from, type.most_row_entries);
      });
    std::int64_t least = 0;
    for (auto i = from; i < to; ++i) {
      if (columns[i] < least || columns[i] >= type.feature_width)
        astray.add([&] {
          return fmt::format("node {} has a value in column {}, but {} to {} "
                             "can follow",
                             node, columns[i], least, type.feature_width - 1);
        });
      least = std::int64_t{columns[i]} + 1;
      if (!std::isfinite(value(i)))
        infinite.add([&] {
          return fmt::format("node {}, column {} is {}", node, columns[i],
                             value(i));
        });
    }
  }
  full.report(features.indptr, out);
  astray.report(features.indices, out);
  infinite.report(features.values, out);
}

std::pair<std::vector<std::int64_t>, std::int64_t>
count_labels(const node_type_info& type, const npy_array& labels,
             findings& out) {
  finding bad;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(type.class_count));
  std::int64_t unlabelled = 0;
  const auto values = elements<std::int64_t>(labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < type.class_count)
      ++counts[static_cast<std::size_t>(values[i])];
    else if (values[i] == -1)
      ++unlabelled;
    else
      bad.add([&] {
        return fmt::format("the label of node {} is {}; there are {} classes",
                           i, values[i], type.class_count);
      });
  }
  bad.report(labels, out);
  return {std::move(counts), unlabelled};
}

std::pair<std::vector<std::int64_t>, std::int64_t>
count_label_rows(const node_type_info& type, const npy_array& labels,
                 findings& out) {
  finding bad;
  const auto width = static_cast<std::size_t>(type.class_count);
  std::vector<std::int64_t> counts(width);
  std::int64_t unlabelled = 0;
  const auto values = elements<std::uint8_t>(labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!fits_label_row(values[i / width * width], values[i]))
      bad.add([&] {
        return fmt::format("label {} of node {} is {}; {}", i % width,
                           i / width, values[i],
                           traits_of(type.labels).expected);
      });
    else if (values[i] == 1)
      ++counts[i % width];
    else if (values[i] == no_labels && i % width == 0)
      ++unlabelled;
  }
  bad.report(labels, out);
  return {std::move(counts), unlabelled};
}

std::pair<std::vector<value_summary>, std::int64_t>
summarise_values(const node_type_info& type, const npy_array& labels,
                 findings& out) {
  finding bad;
  const auto width = static_cast<std::size_t>(type.class_count);
  const auto values = elements<float>(labels);
  std::vector<value_summary> told(width);
  std::int64_t unlabelled = 0;
  std::int64_t known = 0;
  for (std::size_t row = 0; row < values.size(); row += width) {
    const auto one = values.subspan(row, width);
    const auto wrong = find_bad_label(
      type.labels,
      {reinterpret_cast<const std::uint8_t*>(one.data()), one.size_bytes()},
      width);
    if (wrong) {
      bad.add([&] {
        return fmt::format("number {} of node {} is {}; {}", *wrong,
                           row / width, one[*wrong],
                           traits_of(type.labels).expected);
      });
      continue;
    }
    if (std::isnan(one.front())) {
      ++unlabelled;
      continue;
    }
    // As Welford has it (Technometrics 4, 1962), so that nothing is lost
    // where values lie far from 0. `deviation` holds the squares meanwhile.
    ++known;
    for (std::size_t c = 0; c < width; ++c) {
      auto& to = told[c];
      const double value = one[c];
      to.least = known == 1 ? value : std::min(to.least, value);
      to.most = known == 1 ? value : std::max(to.most, value);
      const auto before = value - to.mean;
      to.mean += before / static_cast<double>(known);
      to.deviation += before * (value - to.mean);
    }
  }
  for (auto& to : told)
    to.deviation =
      known == 0 ? 0 : std::sqrt(to.deviation / static_cast<double>(known));
  bad.report(labels, out);
  return {std::move(told), unlabelled};
}

void find_bad_seeds(const node_type_info& type,
                    const dataset::label_arrays& arrays, bool vouched,
                    findings& out) {
  constexpr std::uint8_t nowhere = 255;
  std::vector<std::uint8_t> split_of;
  const auto labelled = [&](std::size_t node) {
    return arrays.labels
           && is_known(type.labels, type.class_count, *arrays.labels, node);
  };
  for (auto which : all_splits) {
    const auto& array = arrays.splits[static_cast<std::size_t>(which)];
    if (!array)
      continue;
    // A type without labels has no other array that vouches for its count.
    if (!arrays.labels && !vouched) {
      out.push_back(fmt::format("{}: {} has neither labels nor features",
                                array->path().string(), type.name));
      continue;
    }
    split_of.resize(static_cast<std::size_t>(type.count), nowhere);
    finding missing;
    finding unlabelled;
    finding twice;
    for (const auto id : elements<node_id>(*array)) {
      if (id < 0 || id >= type.count) {
        missing.add([&] {
          return fmt::format("node {} does not exist ({} nodes)", id,
                             type.count);
        });
        continue;
      }
      const auto node = static_cast<std::size_t>(id);
      if (!labelled(node))
        unlabelled.add([&] { return fmt::format("node {} has no label", id); });
      if (split_of[node] != nowhere)
        twice.add([&] {
          return fmt::format("node {} is in the {} split already", id,
                             file_stem(static_cast<split>(split_of[node])));
        });
      split_of[node] = static_cast<std::uint8_t>(which);
    }
    for (const auto* kind : {&missing, &unlabelled, &twice})
      kind->report(*array, out);
  }
}

bool find_bad_indptr(const npy_array& indptr, std::int64_t edges,
                     findings& out) {
  finding bad;
  const auto begin = elements<std::int64_t>(indptr);
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    if (begin[i] < 0 || begin[i + 1] < begin[i] || begin[i + 1] > edges)
      bad.add([&] {
        return fmt::format("the list of node {} goes from {} to {} of {} edges",
                           i, begin[i], begin[i + 1], edges);
      });
  bad.report(indptr, out);
  return bad.empty();
}

void find_bad_degrees(const npy_array& stored,
                      std::span<const std::int32_t> counted, findings& out) {
  finding bad;
  const auto degrees = elements<std::int32_t>(stored);
  for (std::size_t i = 0; i < degrees.size(); ++i)
    if (degrees[i] != counted[i])
      bad.add([&] {
        return fmt::format("node {} is said to have {} edges, but has {}", i,
                           degrees[i], counted[i]);
      });
  bad.report(stored, out);
}

weight_summary summarise_weights(const npy_array& weights, findings& out) {
  finding bad;
  weight_summary told;
  double sum = 0;
  std::int64_t known = 0;
  const auto values = elements<float>(weights);
  weights.file().advise_sequential();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (!edge_weight_from(value)) {
      bad.add([&] {
        return fmt::format("the weight of edge {} is {}; a finite number that "
                           "is not negative expected",
                           i, value);
      });
      continue;
    }
    told.least = known == 0 ? value : std::min(told.least, value);
    told.most = std::max(told.most, value);
    told.zeros += value == 0;
    sum += value;
    ++known;
  }
  told.mean = known == 0 ? 0 : sum / static_cast<double>(known);
  bad.report(weights, out);
  return told;
}

void find_bad_sums(const npy_array& stored, std::span<const float> added,
                   findings& out) {
  finding bad;
  const auto sums = elements<float>(stored);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (!edge_weight_from(sums[i]))
      bad.add([&] {
        return fmt::format("the weights of the edges of node {} are said to "
                           "add up to {}",
                           i, sums[i]);
      });
    else if (!added.empty() && sums[i] != added[i])
      bad.add([&] {
        return fmt::format("the weights of the edges of node {} are said to "
                           "add up to {}, but add up to {}",
                           i, sums[i], added[i]);
      });
  bad.report(stored, out);
}

} // namespace graphmill
