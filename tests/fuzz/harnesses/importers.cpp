#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "partition/importers/npy/npy.hpp"
#include "partition/importers/wordnet/wordnet.hpp"
#include "tests/fuzz/harnesses/imported.hpp"
#include "tests/fuzz/registry.hpp"

#include "partition/files/npy/npy_header.hpp"
#include "partition/importers/wordnet/wordnet_format.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// What others keep their graphs in. What is imported is a sound dataset.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

// -- tables

/// The first byte says what separates fields.
char separator_of(std::uint8_t which) {
  constexpr std::array<char, 5> all{'\0', ',', '\t', ' ', ';'};
  return all[which % all.size()];
}

void read_rows(std::string_view input) {
  cursor from{input};
  const auto separator = separator_of(from.take<std::uint8_t>());
  const auto path = scratch() / "table.csv";
  put_file(path, from.rest());
  auto reader = csv_reader::open(path, separator, '#');
  if (!reader)
    return;
  std::int64_t line = 0;
  for (;;) {
    const auto more = reader.value().next();
    if (!more || !more.value())
      return;
    require(!reader.value().fields().empty(), "a row without fields");
    require(reader.value().line() > line, "lines that do not ascend");
    line = reader.value().line();
    std::size_t sum = 0;
    for (const auto field : reader.value().fields())
      for (const auto c : field)
        sum += static_cast<unsigned char>(c);
    require(sum <= 255 * (std::size_t{16} << 20), "a row of any length");
  }
}

/// "a,b\nc,d\n", packed by gzip.
constexpr std::array<unsigned char, 28> packed{
  0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
  0x4b, 0xd4, 0x49, 0xe2, 0x4a, 0xd6, 0x49, 0xe1, 0x02, 0x00,
  0x6d, 0x2c, 0x6a, 0x3f, 0x08, 0x00, 0x00, 0x00};

/// "a,b\n", a frame of Zstandard that holds it as it is.
constexpr std::array<unsigned char, 13> unpacked_frame{
  0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x04, 0x21, 0x00, 0x00, 'a', ',', 'b', '\n'};

std::vector<std::string> rows() {
  return {
    std::string{'\0'}
      + "# comment\nid,label,x\na,\"x \"\"y\"\"\",0.5\nb,,-1e3\n",
    std::string{'\2'} + "1\t2\n2\t3\n\n3\t1",
    std::string{'\3'} + "% comment\n 1   2  0.5\n2 3 0.25\r\n",
    std::string{'\1'} + "\"a\nb\",c\n",
    std::string{'\0'} + std::string{packed.begin(), packed.end()},
    std::string{'\0'}
      + std::string{unpacked_frame.begin(), unpacked_frame.end()},
  };
}

void import_tables(std::string_view input) {
  cursor from{input};
  const auto bits = from.take<std::uint8_t>();
  const auto files = files_in(from.rest(), 3);
  csv_import_options options;
  options.separator = separator_of(bits % 5);
  options.comments = bits & 8 ? '#' : '\0';
  options.reverse = bits & 16;
  options.normalise = bits & 32 ? row_norm::l1 : row_norm::none;
  if (bits & 64)
    options.edge_header = bits & 128;
  constexpr std::array unknown{unknown_nodes::error, unknown_nodes::drop,
                               unknown_nodes::add};
  options.unknown = unknown[files[0].size() % unknown.size()];
  options.skip_bad_rows = std::ssize(files[0]) % 4;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto path = scratch() / ("table-" + std::to_string(i));
    put_file(path, files[i]);
    if (i == 0)
      options.edges.push_back({"", path});
    else if (i == 1 && !files[i].empty())
      options.nodes.push_back({"", path});
  }
  if (!files[2].empty()) { // Two types of nodes.
    options.edges[0].type = "node__to__other";
    if (!options.nodes.empty())
      options.nodes[0].type = "node";
    options.nodes.push_back({"other", scratch() / "table-2"});
  }
  const auto folder = fresh_folder();
  check_import(import_csv(options, folder), folder);
}

std::vector<std::string> tables() {
  const std::string nodes =
    "id,label,split,x,y\na,cat,train,1,2\nb,dog,val,0.5,0\nc,,test,-1,1e3\n";
  return {
    std::string{'\0'} + joined({"a,b\nb,c\nc,a\n", nodes}),
    std::string{'\0'} + "source,destination\n1,2\n2,3\n",
    std::string{'\0'} + "source,destination,weight\n1,2,0.5\n2,3,1e3\n",
    std::string{'\x10'} + joined({"a,k\nb,l\n", nodes, "id\nk\nl\n"}),
    std::string{'\x23'} + joined({"1 2\n2 1\n", "id label f\n1 7 3\n2 -1 4\n"}),
    std::string{'\0'}
      + joined({"a,b\n", "id,label,split,label.t,split.t,split.u\n"
                         "a,x,train,1,train,test\nb,y,val,2,val,train\n"}),
    // Broken rows, and ends without a row.
    std::string{'\0'}
      + joined({"a,b\na,z\nb\n,a\n", "id,label,f\na,x,1\nb,y,red\nc,x\n"}),
  };
}

// -- arrays

constexpr std::array<const char*, 12> array_names{
  "meta.json",           "edges.npy",           "labels.npy",
  "features.npy",        "features_indptr.npy", "features_indices.npy",
  "features_values.npy", "train_idx.npy",       "val_idx.npy",
  "labels.t.npy",        "train_mask.t.npy",    "edge_weight.npy"};

void import_arrays(std::string_view input) {
  cursor from{input};
  const auto bits = from.take<std::uint8_t>();
  const auto files = files_in(from.rest(), array_names.size());
  npy_import_options options;
  options.source = scratch() / "arrays";
  options.reverse = bits & 1;
  options.renumber_labels = bits & 2;
  options.multi_label = bits & 8;
  options.regression = bits & 16;
  options.normalise = bits & 4 ? row_norm::l1 : row_norm::none;
  fs::create_directories(options.source);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::error_code ignored;
    fs::remove(options.source / array_names[i], ignored);
    if (!files[i].empty())
      put_file(options.source / array_names[i], files[i]);
  }
  const auto folder = fresh_folder();
  check_import(import_npy(options, folder), folder);
}

template <class T>
std::string array_of(std::vector<std::int64_t> shape, std::vector<T> values) {
  auto out = format_npy_header(dtype_of<T>(), shape);
  out.append(reinterpret_cast<const char*>(values.data()),
             values.size() * sizeof(T));
  return out;
}

std::vector<std::string> array_folders() {
  using ids = std::vector<std::int64_t>;
  const auto edges = array_of<std::int64_t>({2, 3}, ids{0, 1, 2, 1, 2, 0});
  const auto labels = array_of<std::int64_t>({3}, ids{0, 1, -1});
  const auto rows = array_of<std::int64_t>({3, 2}, ids{1, 1, 0, 1, -1, -1});
  const auto features =
    array_of<float>({3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto train = array_of<std::int64_t>({1}, ids{0});
  const auto indptr = array_of<std::int64_t>({4}, ids{0, 1, 1, 2});
  const auto indices =
    array_of<std::int32_t>({2}, std::vector<std::int32_t>{0, 1});
  const auto values = array_of<float>({2}, std::vector<float>{0.5f, 1.5f});
  const auto mask =
    array_of<std::uint8_t>({3}, std::vector<std::uint8_t>{1, 1, 0});
  const std::string meta =
    R"({"name": "n", "num_nodes": 3, "num_classes": 2, "num_features": 2})";
  const std::string sets =
    R"({"label_sets": {"t": {"num_classes": 2, "class_names": ["a", "b"]}}})";
  return {
    std::string{'\0'}
      + joined({meta, edges, labels, features, "", "", "", train}),
    std::string{'\3'} + joined({"", edges, labels}),
    std::string{'\x8'} + joined({"", edges, rows}),
    std::string{'\x10'} + joined({"", edges, features}),
    std::string{'\0'}
      + joined({sets, edges, labels, "", "", "", "", train, "", labels, mask}),
    std::string{'\1'}
      + joined({"", edges, "", "", "", "", "", "", "", "", "",
                array_of<float>({3}, std::vector<float>{0, 1, 2})}),
    std::string{'\4'}
      + joined({meta, edges, labels, "", indptr, indices, values, train}),
  };
}

// -- WordNet

void read_synsets(std::string_view input) {
  const auto files = files_in(input, wordnet::data_files.size());
  for (const auto& file : files)
    if (const auto parsed =
          wordnet::parse_synset(file.substr(0, file.find('\n')), 1)) {
      auto gloss = parsed.value().gloss;
      while (!gloss.empty()) {
        const auto before = gloss.size();
        (void)wordnet::next_definition(gloss);
        require(gloss.size() < before, "a gloss that does not end");
      }
    }
  wordnet_options options;
  options.source = scratch() / "wordnet";
  options.feature_width = 8;
  fs::create_directories(options.source);
  for (std::size_t i = 0; i < files.size(); ++i)
    put_file(options.source / wordnet::data_files[i], files[i]);
  const auto folder = fresh_folder();
  check_import(import_wordnet(options, folder), folder);
}

std::vector<std::string> synsets() {
  const std::string noun =
    "  1 licence\n"
    "00000010 03 n 01 entity 0 001 ~ 00000090 n 0000 | what is; \"an entity\"\n"
    "00000090 05 n 02 animal 0 beast 0 001 @ 00000010 n 0000 | a thing that "
    "lives\n";
  const std::string verb =
    "00001740 29 v 02 breathe 0 respire 0 001 + 00000090 n 0101 02 + 02 00 "
    "+ 08 00 | draw air; \"I can breathe better\"\n";
  return {
    joined({noun, verb, "00000010 00 a 01 able 0 000 | able to\n",
            "00000010 02 r 01 ably 0 001 \\ 00000010 a 0101 | so\n"}),
  };
}

} // namespace

const harness csv_rows_harness{"csv_rows", "rows of tables", read_rows, rows,
                               4000};
const harness csv_import_harness{"csv_import", "tables that are imported",
                                 import_tables, tables, 200};
const harness npy_import_harness{"npy_import", "arrays that are imported",
                                 import_arrays, array_folders, 200};
const harness wordnet_harness{"wordnet", "files of WordNet", read_synsets,
                              synsets, 80};

} // namespace graphmill::fuzz
