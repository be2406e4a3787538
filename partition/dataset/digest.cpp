#include "partition/dataset/digest.hpp"

#include "partition/dataset/label_sets.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t hashed_block_bytes = std::size_t{64} << 20;
constexpr std::size_t largest_info = std::size_t{1} << 28;

/// Puts a digest's pieces together.
class recipe {
public:
  /// Integers as they lie in memory, little-endian.
  void integer(std::int64_t value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  /// With its length, so that no two different sequences give the same bytes.
  void text(std::string_view value) {
    integer(std::ssize(value));
    text_ += value;
  }

  /// With its type and size.
  void array(const npy_array& values) {
    text(to_string(values.type()));
    integer(values.size());
    elements(values);
  }

  void optional_array(const std::optional<npy_array>& values) {
    integer(values.has_value() ? 1 : 0);
    if (values)
      array(*values);
  }

  /// The elements alone.
  void elements(const npy_array& values) {
    pieces_.push_back({std::exchange(text_, {}), &values});
  }

  std::vector<digest_piece> finish() {
    if (!text_.empty())
      pieces_.push_back({std::exchange(text_, {})});
    return std::move(pieces_);
  }

private:
  std::string text_;
  std::vector<digest_piece> pieces_;
};

std::string path_within(const fs::path& folder, const npy_array& array) {
  return array.path().lexically_relative(folder).string();
}

/// Reads mapped arrays block by block and tells how far it is.
class array_reader {
public:
  explicit array_reader(const progress_callback& on_progress)
    : on_progress_(on_progress) {}

  template <class Take>
  void read(const npy_array& array, Take take) {
    array.file().advise_sequential();
    for (auto rest = array.bytes(); !rest.empty();) {
      const auto block = rest.first(std::min(rest.size(), hashed_block_bytes));
      take(block);
      rest = rest.subspan(block.size());
      done_ += block.size();
      if (on_progress_)
        on_progress_({.phase = "compute digest", .done = done_});
    }
  }

private:
  const progress_callback& on_progress_;
  std::uint64_t done_ = 0;
};

void add_task(recipe& out, const dataset& data, std::size_t which) {
  const auto& info = data.info();
  const auto& task = info.tasks[which];
  out.text("task of edges"); // No name of a type has a blank.
  out.text(task.name);
  out.text(traits_of(task.kind).name);
  out.integer(task.class_count);
  for (std::size_t i = 0; i < task.edge_types.size(); ++i) {
    const auto& reverse = task.reverse_types[i];
    out.text(info.edge_type_name(task.edge_types[i]));
    out.text(reverse ? info.edge_type_name(*reverse) : std::string{});
  }
  for (auto split : all_splits) {
    const auto& arrays =
      data.task(which).splits[static_cast<std::size_t>(split)];
    if (!arrays)
      continue;
    out.text(file_stem(split));
    for (const auto& [name, array] : arrays->all()) {
      out.text(name);
      out.array(*array);
    }
  }
}

} // namespace

std::vector<digest_piece> content_of(const dataset& data) {
  const auto& info = data.info();
  recipe out;
  out.text(info.node_types[info.target].name);
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto& type = info.node_types[t];
    out.text(type.name);
    out.integer(type.count);
    out.integer(type.feature_width);
    out.integer(type.class_count);
    out.optional_array(data.nodes(t).features);
    if (const auto& sparse = data.nodes(t).sparse) {
      out.text("sparse features"); // No name of a type has a blank.
      out.integer(type.most_row_entries);
      for (const auto* array : sparse->all())
        out.array(*array);
    }
    if (const auto& times = data.nodes(t).times) {
      out.text("node times"); // Likewise.
      out.integer(info.ticks_per_second);
      out.array(*times);
    }
    out.optional_array(data.nodes(t).labels);
    for (const auto& ids : data.nodes(t).splits)
      out.optional_array(ids);
    for (std::size_t s = 0; s < type.label_sets.size(); ++s) {
      const auto& arrays = data.nodes(t).label_sets[s];
      out.text("label set"); // No name of a type has a blank.
      out.text(type.label_sets[s].name);
      out.integer(type.label_sets[s].class_count);
      out.optional_array(arrays.labels);
      for (const auto& ids : arrays.splits)
        out.optional_array(ids);
    }
  }
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    out.text(info.edge_type_name(t));
    out.array(data.edges(t).indptr);
    out.array(data.edges(t).indices);
    if (const auto& weighted = data.edges(t).weighted) {
      out.text("edge weights"); // No name of a type has a blank.
      out.array(weighted->weights);
    }
    if (const auto& visible = data.edges(t).visible) {
      out.text("visible edges"); // Likewise.
      out.array(*visible);
    }
    if (const auto& times = data.edges(t).times) {
      out.text("edge times"); // Likewise.
      out.integer(info.ticks_per_second);
      out.array(*times);
    }
    if (const auto& features = data.edges(t).features) {
      out.text("edge features"); // Likewise.
      out.integer(info.edge_types[t].feature_width);
      out.array(*features);
    }
  }
  for (std::size_t t = 0; t < info.tasks.size(); ++t)
    add_task(out, data, t);
  return out.finish();
}

std::vector<digest_piece>
content_of_part(const dataset& part, std::span<const npy_array> original_ids,
                std::span<const npy_array> original_begin) {
  recipe out;
  const auto add = [&out](const std::optional<npy_array>& array) {
    if (array)
      out.elements(*array);
  };
  for (std::size_t t = 0; t < original_ids.size(); ++t) {
    const auto type = static_cast<node_type_id>(t);
    out.elements(original_ids[t]);
    add(part.nodes(type).features);
    if (const auto& sparse = part.nodes(type).sparse)
      for (const auto* array : sparse->all())
        out.elements(*array);
    for (const auto& of : labels_in(part, type)) {
      add(of.arrays.labels);
      for (const auto& ids : of.arrays.splits)
        add(ids);
    }
  }
  for (std::size_t t = 0; t < original_begin.size(); ++t) {
    for (const auto* array : part.edges(static_cast<edge_type_id>(t)).all())
      out.elements(*array);
    out.elements(original_begin[t]);
  }
  return out.finish();
}

std::vector<const npy_array*> arrays_of(const dataset& data) {
  std::vector<const npy_array*> out;
  const auto add = [&out](const std::optional<npy_array>& array) {
    if (array)
      out.push_back(&*array);
  };
  const auto& info = data.info();
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    add(data.nodes(t).features);
    add(data.nodes(t).times);
    if (const auto& sparse = data.nodes(t).sparse)
      for (const auto* array : sparse->all())
        out.push_back(array);
    for (const auto& of : labels_in(data, t)) {
      add(of.arrays.labels);
      for (const auto& ids : of.arrays.splits)
        add(ids);
    }
  }
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t) {
    for (const auto* array : data.edges(t).all())
      out.push_back(array);
  }
  for (std::size_t t = 0; t < info.tasks.size(); ++t)
    for (const auto& split : data.task(t).splits)
      if (split)
        for (const auto& [name, array] : split->all())
          out.push_back(array);
  return out;
}

result<std::string> content_digest(const dataset& data,
                                   const progress_callback& on_progress) {
  content_hash whole;
  array_reader reader{on_progress};
  for (const auto& [text, array] : content_of(data)) {
    whole.update(text);
    if (array != nullptr)
      reader.read(*array, [&](auto block) { whole.update(block); });
  }
  if (auto broken = mapped_file::first_fault())
    return *std::move(broken);
  return whole.digest();
}

result<dataset_digests> digests_of(const dataset& data,
                                   const progress_callback& on_progress) {
  dataset_digests out;
  content_hash whole;
  array_reader reader{on_progress};
  for (const auto& [text, array] : content_of(data)) {
    whole.update(text);
    if (array == nullptr)
      continue;
    content_hash own;
    reader.read(*array, [&](auto block) {
      whole.update(block);
      own.update(block);
    });
    out.arrays[path_within(data.folder(), *array)] = own.digest();
  }
  for (const auto* array : arrays_of(data)) {
    auto& digest = out.arrays[path_within(data.folder(), *array)];
    if (!digest.empty())
      continue;
    content_hash own;
    reader.read(*array, [&](auto block) { own.update(block); });
    digest = own.digest();
  }
  if (auto broken = mapped_file::first_fault())
    return *std::move(broken);
  out.content = whole.digest();
  return out;
}

std::string own_digest(const nlohmann::json& book) {
  auto rest = book;
  rest.erase(own_digest_field);
  content_hash hash;
  hash.update(
    rest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return hash.digest();
}

result<void>
write_array_digests(const fs::path& folder,
                    const std::map<std::string, std::string>& digests) {
  const auto path = folder / "dataset.json";
  GRAPHMILL_TRY(auto about, read_json(path, largest_info));
  about["array_digests"] = digests;
  return write_text(path, about.dump(2) + '\n');
}

} // namespace graphmill
