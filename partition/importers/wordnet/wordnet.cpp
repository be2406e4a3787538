#include "partition/importers/wordnet/wordnet.hpp"

#include "partition/files/mapped_file.hpp"
#include "partition/importers/reverse.hpp"
#include "partition/importers/wordnet/hashed_words.hpp"
#include "partition/importers/wordnet/wordnet_format.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

namespace {

using namespace wordnet;

/// No line of WordNet 3.0 is longer than 16 KiB.
constexpr std::size_t longest_line = std::size_t{1} << 20;

/// Lemmas are mostly rare words, which tell little and blur the columns that
/// they share: measured, their full weight costs a percent of accuracy.
constexpr float lemma_weight = 0.5f;

struct synset_text {
  std::vector<std::string_view> lemmas;
  std::string_view gloss;
};

struct held_pointer {
  node_id holder = 0;
  std::size_t line = 0; ///< Of the holder, for messages.
  pointer to;
};

struct edge_columns {
  std::vector<node_id> sources;
  std::vector<node_id> destinations;
};

/// The database in memory, as far as it becomes a graph.
struct database {
  std::array<mapped_file, data_files.size()> maps; ///< What the texts lie in.
  std::array<std::vector<std::uint32_t>, data_files.size()> offsets;
  std::array<node_id, data_files.size() + 1> first{}; ///< Ids of each file.
  std::vector<std::int64_t> labels;
  std::vector<synset_text> texts;
  std::vector<held_pointer> pointers;
};

error at_line(const std::filesystem::path& path, std::size_t line,
              std::string_view name) {
  return fail(ec::invalid_data, "{}:{}: {}", path.string(), line, name);
}

result<void> add_synset(database& words, std::size_t file, std::size_t line,
                        synset parsed) {
  auto& offsets = words.offsets[file];
  if (!offsets.empty() && parsed.offset <= offsets.back())
    return fail(ec::invalid_data,
                "its synset offset {} is not above the one before, {}",
                parsed.offset, offsets.back());
  offsets.push_back(parsed.offset);
  const auto id = static_cast<node_id>(words.labels.size());
  words.labels.push_back(parsed.lexicographer_file);
  for (const auto& to : parsed.pointers)
    words.pointers.push_back({id, line, to});
  words.texts.push_back({std::move(parsed.lemmas), parsed.gloss});
  return ok();
}

result<void> read_file(database& words, std::size_t file,
                       const std::filesystem::path& path) {
  auto opened = mapped_file::open(path);
  if (!opened && opened.error().code == ec::not_found)
    return fail(ec::not_found,
                "no WordNet database: {} is not there; install the package "
                "wordnet-base or give its folder by --source",
                path.string());
  GRAPHMILL_TRY(words.maps[file], std::move(opened));
  words.maps[file].advise_sequential();
  const auto bytes = words.maps[file].bytes();
  std::string_view text{reinterpret_cast<const char*>(bytes.data()),
                        bytes.size()};
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.substr(0, longest_line).find('\n');
    if (end == std::string_view::npos)
      return at_line(path, line,
                     text.size() < longest_line
                       ? "the file ends within this line; it is truncated"
                       : "the line is longer than 1 MiB");
    const auto content = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (content.starts_with("  ")) // The licence.
      continue;
    auto parsed = parse_synset(content, static_cast<int>(file));
    if (!parsed)
      return at_line(path, line, parsed.error().message);
    auto added = add_synset(words, file, line, std::move(parsed).value());
    if (!added)
      return at_line(path, line, added.error().message);
  }
  if (words.offsets[file].empty())
    return fail(ec::invalid_data, "{} holds no synset", path.string());
  words.first[file + 1] = static_cast<node_id>(words.labels.size());
  return ok();
}

std::optional<node_id> find_synset(const database& words, const pointer& to) {
  const auto file = static_cast<std::size_t>(to.file);
  const auto& offsets = words.offsets[file];
  const auto at = std::lower_bound(offsets.begin(), offsets.end(), to.offset);
  if (at == offsets.end() || *at != to.offset)
    return std::nullopt;
  return words.first[file] + (at - offsets.begin());
}

/// One list of edges per relation, without repetitions.
result<std::vector<edge_columns>> resolve(const database& words,
                                          const std::filesystem::path& source) {
  std::vector<edge_columns> edges(relations().size());
  for (const auto& held : words.pointers) {
    const auto target = find_synset(words, held.to);
    if (!target) {
      const auto file =
        std::upper_bound(words.first.begin(), words.first.end(), held.holder)
        - words.first.begin() - 1;
      return at_line(
        source / data_files[file], held.line,
        fmt::format("a pointer leads to a synset at {} of {}, where none is",
                    held.to.offset, data_files[held.to.file]));
    }
    auto& [sources, destinations] = edges[held.to.relation];
    // Pointers of one holder stand together, so only the end can repeat.
    auto repeated = false;
    for (auto i = sources.size();
         !repeated && i-- > 0 && destinations[i] == held.holder;)
      repeated = sources[i] == *target;
    if (repeated)
      continue;
    sources.push_back(*target);
    destinations.push_back(held.holder);
  }
  return edges;
}

dataset_info describe(const database& words, const wordnet_options& options) {
  dataset_info info;
  info.name = options.name;
  info.provenance = fmt::format(
    "WordNet database files (Princeton University), imported by graphmill: "
    "{} hashed words of lemmas and definitions, split drawn with seed {}",
    options.feature_width, options.seed);
  node_type_info synsets;
  synsets.name = "synset";
  synsets.count = static_cast<std::int64_t>(words.labels.size());
  synsets.feature_width = options.feature_width;
  synsets.class_count = static_cast<std::int64_t>(lexicographer_files().size());
  synsets.class_names.assign(lexicographer_files().begin(),
                             lexicographer_files().end());
  info.node_types.push_back(std::move(synsets));
  for (const auto& relation : relations())
    info.edge_types.push_back({.name = std::string{relation.name}});
  if (options.reverse)
    add_reverse_types(info);
  return info;
}

/// Adjectives may carry a marker of their position: "galore(ip)".
std::string_view without_marker(std::string_view lemma) {
  return lemma.ends_with(')') ? lemma.substr(0, lemma.rfind('(')) : lemma;
}

result<void> write_features(const database& synsets, std::int64_t width,
                            dataset_writer& writer,
                            const progress_callback& on_progress) {
  constexpr std::size_t chunk = 1024;
  const auto columns = static_cast<std::size_t>(width);
  std::vector<float> rows(chunk * columns);
  for (std::size_t begin = 0; begin < synsets.texts.size(); begin += chunk) {
    const auto count = std::min(chunk, synsets.texts.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      hashed_words words{std::span{rows}.subspan(i * columns, columns)};
      for (const auto lemma : synsets.texts[begin + i].lemmas)
        words.add(without_marker(lemma), lemma_weight);
      for (auto gloss = synsets.texts[begin + i].gloss; !gloss.empty();)
        words.add(next_definition(gloss));
      words.normalise();
    }
    GRAPHMILL_TRYV(
      writer.append_features(0, std::span{rows}.first(count * columns)));
    if (on_progress)
      on_progress({"hash words", begin + count, synsets.texts.size(), 0});
  }
  return ok();
}

result<void> write_edges(const std::vector<edge_columns>& edges, bool reverse,
                         dataset_writer& writer) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto type = static_cast<edge_type_id>(i);
    const auto back = static_cast<edge_type_id>(edges.size() + i);
    GRAPHMILL_TRYV(append_both_ways(writer, type, reverse ? back : -1,
                                    edges[i].sources, edges[i].destinations));
  }
  return ok();
}

} // namespace

result<dataset_info> import_wordnet(const wordnet_options& options,
                                    const std::filesystem::path& folder,
                                    const progress_callback& on_progress) {
  if (options.feature_width < 1 || options.feature_width > 65536)
    return fail(ec::invalid_argument,
                "the feature width is {}; it must be between 1 and 65536",
                options.feature_width);
  database words;
  for (std::size_t file = 0; file < data_files.size(); ++file) {
    if (on_progress)
      on_progress({"read WordNet", file, data_files.size(), 0});
    GRAPHMILL_TRYV(read_file(words, file, options.source / data_files[file]));
  }
  GRAPHMILL_TRY(const auto edges, resolve(words, options.source));

  dataset_writer::options how;
  how.on_progress = on_progress;
  GRAPHMILL_TRY(auto writer,
                dataset_writer::create(folder, describe(words, options), how));
  GRAPHMILL_TRYV(
    write_features(words, options.feature_width, writer, on_progress));
  GRAPHMILL_TRYV(writer.set_labels(0, words.labels));
  const auto count = static_cast<std::int64_t>(words.labels.size());
  const auto splits = keyed_split(count, options.fractions, options.seed);
  for (std::size_t s = 0; s < all_splits.size(); ++s)
    GRAPHMILL_TRYV(writer.set_split(0, all_splits[s], splits[s]));
  GRAPHMILL_TRYV(write_edges(edges, options.reverse, writer));
  if (const auto fault = mapped_file::first_fault())
    return *fault;
  return writer.finish();
}

result<std::vector<std::filesystem::path>>
wordnet_files(const wordnet_options& options) {
  std::vector<std::filesystem::path> files;
  for (const auto name : wordnet::data_files)
    files.push_back(options.source / name);
  return files;
}

} // namespace graphmill
