#include "partition/importers/csv/text/csv_reader.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/zstd_source.hpp"
#include "partition/importers/csv/text/csv_separator.hpp"

#include <boost/iostreams/device/file_descriptor.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <span>

namespace graphmill {

namespace io = boost::iostreams;

namespace {

constexpr std::size_t csv_block_bytes = std::size_t{1} << 16;
/// A limit, so that a quote that is never closed, or a file that is no text,
/// does not fill the memory.
constexpr std::size_t longest_row = std::size_t{1} << 24;
/// As it is in the file: every quote in its fields may be doubled.
constexpr std::size_t most_row_bytes = 4 * longest_row;
constexpr int end_of_file = -1;

/// What files begin with that zip, xz and bzip2 make.
constexpr auto packed_begins = std::to_array<std::string_view>({"PK\x03\x04",
                                                                "\xfd"
                                                                "7zXZ",
                                                                "BZh91AY&SY"});

/// Whether a file begins with a frame of Zstandard, or with one to be skipped.
bool is_zstandard(std::string_view begin) {
  return begin.starts_with("\x28\xb5\x2f\xfd")
         || (begin.size() >= 4 && (begin[0] & '\xf0') == '\x50'
             && begin.substr(1, 3) == "\x2a\x4d\x18");
}

/// Whether no byte is above 0x7f. Looks at eight of them at once.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  std::uint64_t any = 0;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    any |= word;
  }
  word = 0;
  text.copy(reinterpret_cast<char*>(&word), text.size());
  return ((any | word) & high_bits) == 0;
}

/// What comments begin with in a format of edge lists that has them; '\0': it
/// is none of those.
char comments_of_format(std::string_view block) {
  // KONECT: what kind of graph, and what weights.
  for (const auto begin : {"% sym ", "% asym ", "% bip "})
    if (block.starts_with(begin))
      return '%';
  // SNAP: among the first lines, how many nodes and edges.
  while (block.starts_with('#')) {
    const auto line = block.substr(0, block.find('\n'));
    if (line.starts_with("# Nodes: ") && line.find("Edges: ") != line.npos)
      return '#';
    block.remove_prefix(std::min(block.size(), line.size() + 1));
  }
  return '\0';
}

/// What formats of graphs that are text begin with, after blanks. A table could
/// have an id with such a character, but hardly with what follows it.
struct graph_format {
  std::string_view begin;
  std::string_view name;
};
constexpr auto graph_formats =
  std::to_array<graph_format>({{"{\"", "JSON"},
                               {"{ \"", "JSON"},
                               {"{\n", "JSON"},
                               {"{\r\n", "JSON"},
                               {"[{", "JSON"},
                               {"[\n", "JSON"},
                               {"[\r\n", "JSON"},
                               {"<?xml", "XML, as GraphML or GEXF are"},
                               {"<graphml", "GraphML"},
                               {"<gexf", "GEXF"},
                               {"graph [", "GML"},
                               {"graph\n[", "GML"},
                               {"Creator \"", "GML"},
                               {"*Vertices", "Pajek's format"},
                               {"*vertices", "Pajek's format"}});

/// The name of the format of a graph; empty: of none that is known.
std::string_view graph_format_of(std::string_view block) {
  const auto begin = block.find_first_not_of(" \t\r\n");
  if (begin == block.npos)
    return {};
  const auto text = block.substr(begin);
  const auto at =
    std::ranges::find_if(graph_formats, [text](const graph_format& format) {
      return text.starts_with(format.begin);
    });
  return at == graph_formats.end() ? std::string_view{} : at->name;
}

/// What is wrong with a file that is no table of text, and what to do with it;
/// empty: nothing, as far as its first block tells.
std::string_view what_else(std::string_view block) {
  // A page or the footer follows, as a field of Thrift; a text may begin so.
  if (block.starts_with("PAR1\x15"))
    return "a Parquet file: examples/to_graphmill.py takes it";
  if (block.starts_with("%%MatrixMarket"))
    return "a Matrix Market file, whose first row holds sizes: read it as a "
           "SciPy matrix (scipy.io.mmread) and give that to "
           "examples/to_graphmill.py, or save a list of its edges";
  using namespace std::string_view_literals;
  if (block.starts_with("\xff\xfe\0\0"sv)
      || block.starts_with("\0\0\xfe\xff"sv))
    return "in UTF-32: save it in UTF-8";
  if (block.starts_with("\xff\xfe") || block.starts_with("\xfe\xff"))
    return "in UTF-16: save it in UTF-8";
  for (const auto begin : packed_begins)
    if (block.starts_with(begin))
      return "packed, and by something else than gzip or Zstandard: unpack it";
  if (block.find('\0') != block.npos)
    return "no text, for it has NUL characters";
  if (const auto returned = block.find('\r'); returned != block.npos
                                              && returned + 1 < block.size()
                                              && block.find('\n') == block.npos)
    return "in lines that end with carriage returns alone: save it with line "
           "feeds";
  return {};
}

} // namespace

std::string_view trim_blanks(std::string_view text) {
  // This is done for each field, and few have any.
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string quoted_csv_field(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"')
      out += '"';
    out += c;
  }
  return out += '"';
}

struct csv_reader::impl {
  std::filesystem::path path;
  unique_fd file;
  io::filtering_streambuf<io::input> stream;
  char separator = ',';
  char comment = '\0';
  std::int64_t comments = 0; ///< Skipped so far.

  std::string block; ///< Read, and up to `at` used.
  std::size_t at = 0;
  std::size_t row_begin = 0; ///< Of what is in the block of the row.
  std::string row_before;    ///< What was in blocks before.
  bool block_is_ascii = true;
  bool row_is_ascii = true; ///< So are the blocks that have parts of the row.
  std::optional<error> failure;
  std::int64_t next_line = 1;
  bool goes_on = false; ///< The row is wrong, and the next one can be read.

  std::string text;              ///< Of all fields, unquoted.
  std::vector<std::size_t> ends; ///< Of each field in it.
  std::vector<std::string_view> fields;
  std::int64_t line = 1;

  /// How many bytes of the file the first line of the row is; 0: all of it.
  std::size_t first_line = 0;
  std::size_t first_line_text = 0; ///< How much of `text` is of that line.
  std::size_t first_line_ends = 0; ///< How many of `ends` are.

  result<void> start(char wanted_separator, char wanted_comment);
  void begin_row();
  std::string_view row();
  void keep_row();
  bool refill();
  int peek();
  int get();
  bool is_separator(int c) const;
  void skip_blanks();
  bool end_field(int c);
  bool at_quote();
  void skip_line();
  void end_first_line();
  void cut_to_first_line();
  error quote_fault(std::string_view sentence);
  result<bool> quoted_field();
  bool plain_row();
  void take_plain_text();
  bool plain_field();
  void skip_comments();
  result<bool> read_row();
  result<void> check_text() const;
};

/// Finds out about packing, a byte order mark and the separator.
result<void> csv_reader::impl::start(char wanted_separator,
                                     char wanted_comment) {
  std::array<char, 4> first{};
  GRAPHMILL_TRY(
    const auto got,
    read_some(file.get(), std::as_writable_bytes(std::span{first}), path));
  if (::lseek(file.get(), 0, SEEK_SET) != 0)
    return fail_errno(errno, "cannot read {}", path.string());
  const std::string_view magic{first.data(), got};
  if (is_zstandard(magic)) {
    stream.push(zstd_source{file.get()});
  } else {
    if (magic.starts_with("\x1f\x8b"))
      stream.push(io::gzip_decompressor());
    stream.push(io::file_descriptor_source(file.get(), io::never_close_handle));
  }
  refill();
  if (failure)
    return *failure;
  if (const auto other = what_else(block); !other.empty())
    return fail(ec::invalid_data, "{} is {}", path.string(), other);
  if (const auto format = graph_format_of(block); !format.empty())
    return fail(ec::invalid_data,
                "{} is in {}, and no table: save its edges as rows of a table, "
                "or read it by a library of Python, such as networkx, and give "
                "that graph to examples/to_graphmill.py",
                path.string(), format);
  if (block.starts_with("\xef\xbb\xbf"))
    at = 3;
  begin_row();
  const auto begin = std::string_view{block}.substr(at);
  comment = wanted_comment != '\0' ? wanted_comment : comments_of_format(begin);
  separator = wanted_separator;
  if (separator == '\0') {
    GRAPHMILL_TRY(separator,
                  find_separator(begin, block.size() < csv_block_bytes, comment,
                                 path.string()));
  }
  return ok();
}

void csv_reader::impl::begin_row() {
  row_begin = at;
  row_before.clear();
  row_is_ascii = block_is_ascii;
  first_line = 0;
}

/// The row as it is in the file, as far as it was read. Valid until the next
/// read.
std::string_view csv_reader::impl::row() {
  if (!row_before.empty())
    keep_row();
  return row_before.empty()
           ? std::string_view{block}.substr(row_begin, at - row_begin)
           : row_before;
}

/// Keeps what is in the block of the row, but for the end of one that is wrong
/// and never ends.
void csv_reader::impl::keep_row() {
  if (row_before.size() <= most_row_bytes)
    row_before.append(block, row_begin, at - row_begin);
  row_begin = at;
}

bool csv_reader::impl::refill() {
  keep_row();
  at = 0;
  row_begin = 0;
  block.resize(csv_block_bytes);
  try {
    const auto got =
      stream.sgetn(block.data(), static_cast<std::streamsize>(block.size()));
    block.resize(static_cast<std::size_t>(std::max<std::streamsize>(got, 0)));
  } catch (const io::gzip_error&) {
    block.clear();
    failure = fail(ec::invalid_data,
                   "cannot read {}: as a gzip file it is cut short or damaged "
                   "(`gzip -t` tells); make it again",
                   path.string());
  } catch (const std::exception& broken) {
    block.clear();
    failure = fail(ec::invalid_data, "cannot read {}: {}", path.string(),
                   broken.what());
  }
  block_is_ascii = is_ascii(block);
  row_is_ascii = row_is_ascii && block_is_ascii;
  return !block.empty();
}

int csv_reader::impl::peek() {
  if (at == block.size() && !refill())
    return end_of_file;
  return static_cast<unsigned char>(block[at]);
}

int csv_reader::impl::get() {
  const auto c = peek();
  if (c == end_of_file)
    return c;
  ++at;
  if (c == '\n')
    ++next_line;
  return c;
}

bool csv_reader::impl::is_separator(int c) const {
  return c == separator || (separator == ' ' && c == '\t');
}

void csv_reader::impl::skip_blanks() {
  while (separator == ' ' && is_separator(peek()))
    get();
}

/// Ends a field before `c`.
/// @returns whether the row goes on.
bool csv_reader::impl::end_field(int c) {
  ends.push_back(text.size());
  if (!is_separator(c))
    return false;
  if (separator != ' ')
    return true;
  skip_blanks();
  // Blanks at the end of a line separate nothing. A carriage return that ends
  // no line is the first character of the next field.
  const auto returned = peek() == '\r';
  if (returned)
    get();
  if (peek() == '\n' || peek() == end_of_file)
    return false;
  if (returned)
    text.push_back('\r');
  return true;
}

/// Goes past the blanks before a quoted field; those of others are kept.
bool csv_reader::impl::at_quote() {
  const auto begin = text.size();
  for (auto c = peek(); (c == ' ' || c == '\t') && !is_separator(c)
                        && text.size() <= longest_row;
       c = peek())
    text.push_back(static_cast<char>(get()));
  if (peek() != '"')
    return false;
  text.resize(begin);
  return true;
}

result<bool> csv_reader::impl::quoted_field() {
  get();
  for (;;) {
    const auto c = get();
    if (c == end_of_file || text.size() > longest_row)
      return quote_fault("a quoted field does not end: add its closing quote");
    if (c != '"') {
      if (c == '\n' && first_line == 0)
        end_first_line();
      text.push_back(static_cast<char>(c));
      continue;
    }
    if (peek() != '"')
      break;
    text.push_back(static_cast<char>(get()));
  }
  auto c = get();
  if (c == '\r' && peek() == '\n')
    c = get();
  if (c != '\n' && c != end_of_file && !is_separator(c)) {
    text.push_back(static_cast<char>(c));
    return quote_fault("text behind a closing quote; double the quotes within "
                       "a quoted field");
  }
  return end_field(c);
}

/// Notes where the first line of a row ends that goes on behind it.
void csv_reader::impl::end_first_line() {
  first_line = row().size();
  first_line_text = text.size();
  first_line_ends = ends.size();
}

/// Goes back to the second line of the row.
void csv_reader::impl::cut_to_first_line() {
  const auto more = row().substr(first_line);
  if (row_before.empty()) {
    at -= more.size();
  } else { // It began in another block.
    block.replace(0, at, more);
    row_before.resize(first_line);
    block_is_ascii = row_is_ascii;
    at = 0;
    row_begin = 0;
  }
  next_line = line + 1;
  first_line = 0;
  text.resize(first_line_text);
  if (text.ends_with('\r'))
    text.pop_back();
  ends.resize(first_line_ends);
  ends.push_back(text.size());
}

/// Rejects one line alone: where a quote is astray, those behind it are rows.
error csv_reader::impl::quote_fault(std::string_view sentence) {
  if (first_line > 0 && row().size() <= most_row_bytes)
    cut_to_first_line();
  else
    skip_line();
  goes_on = true;
  return fail(ec::invalid_data, "{}:{}: {}", path.string(), line, sentence);
}

/// Takes the rest of the line, which cannot be cut into fields.
void csv_reader::impl::skip_line() {
  for (auto c = get(); c != '\n' && c != end_of_file; c = get())
    if (text.size() <= longest_row)
      text.push_back(static_cast<char>(c));
  ends.push_back(text.size());
}

/// Takes a row whose line ends in the block and has no quote, as most do.
/// @returns whether it was one.
bool csv_reader::impl::plain_row() {
  if (separator == ' ')
    return false;
  auto left = std::string_view{block}.substr(at);
  left = left.substr(0, left.find('\n'));
  if (at + left.size() == block.size() || left.find('"') != left.npos)
    return false;
  at += left.size() + 1;
  ++next_line;
  if (left.ends_with('\r'))
    left.remove_suffix(1);
  for (;;) {
    const auto field = left.substr(0, left.find(separator));
    text += field;
    ends.push_back(text.size());
    if (field.size() == left.size())
      return true;
    left.remove_prefix(field.size() + 1);
  }
}

/// Takes what is in the block of a field, up to what may end it.
void csv_reader::impl::take_plain_text() {
  const auto ends_here = [this](char c) {
    return c == '\n' || c == '\r' || is_separator(c);
  };
  const auto begin = block.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = std::find_if(begin, block.end(), ends_here);
  text.append(begin, end);
  at += static_cast<std::size_t>(end - begin);
}

bool csv_reader::impl::plain_field() {
  for (;;) {
    take_plain_text();
    auto c = get();
    if (c == '\r' && (peek() == '\n' || peek() == end_of_file))
      c = get();
    if (c == '\n' || c == end_of_file || is_separator(c)
        || text.size() > longest_row)
      return end_field(c);
    text.push_back(static_cast<char>(c));
  }
}

/// Goes past lines that are comments.
void csv_reader::impl::skip_comments() {
  while (comment != '\0' && peek() == static_cast<unsigned char>(comment)) {
    ++comments;
    for (auto c = get(); c != '\n' && c != end_of_file; c = get())
      begin_row();
    begin_row();
  }
}

/// @returns false at the end of the file.
result<bool> csv_reader::impl::read_row() {
  text.clear();
  ends.clear();
  begin_row();
  skip_comments();
  line = next_line;
  skip_blanks();
  if (peek() == end_of_file)
    return false;
  if (plain_row())
    return true;
  for (auto more = true; more;) {
    if (at_quote()) {
      GRAPHMILL_TRY(more, quoted_field());
    } else {
      more = plain_field();
    }
    if (text.size() > longest_row || ends.size() > longest_row
        || row_before.size() > most_row_bytes)
      return fail(ec::invalid_data, "{}:{}: a row of more than {} bytes",
                  path.string(), line, longest_row);
  }
  return true;
}

/// Fails if the row has a byte that is not UTF-8, as tables in Latin-1 do:
/// names and ids of it could not be told again.
result<void> csv_reader::impl::check_text() const {
  if (row_is_ascii || is_ascii(text))
    return ok();
  std::size_t begin = 0;
  for (std::size_t field = 0; field < ends.size(); ++field) {
    auto left = std::string_view{text}.substr(begin, ends[field] - begin);
    while (!left.empty()) {
      const auto length = utf8_length(left);
      if (length == 0)
        return fail(ec::invalid_data,
                    "{}:{}: byte {} of field {} is 0x{:02x}, which is not "
                    "UTF-8: save the table in UTF-8 (iconv -f latin1 -t utf-8 "
                    "makes it, if it is in Latin-1)",
                    path.string(), line, ends[field] - begin - left.size() + 1,
                    field + 1, static_cast<unsigned char>(left.front()));
      left.remove_prefix(length);
    }
    begin = ends[field];
  }
  return ok();
}

csv_reader::csv_reader() : impl_(std::make_unique<impl>()) {}
csv_reader::csv_reader(csv_reader&&) noexcept = default;
csv_reader& csv_reader::operator=(csv_reader&&) noexcept = default;
csv_reader::~csv_reader() = default;

result<csv_reader> csv_reader::open(const std::filesystem::path& path,
                                    char separator, char comments) {
  csv_reader reader;
  reader.impl_->path = path;
  GRAPHMILL_TRY(reader.impl_->file, open_file(path, O_RDONLY));
  GRAPHMILL_TRYV(reader.impl_->start(separator, comments));
  return reader;
}

result<bool> csv_reader::next() {
  auto& self = *impl_;
  self.goes_on = false;
  for (;;) {
    const auto there = self.read_row();
    if (self.failure)
      return *self.failure;
    if (!there || !there.value())
      return there;
    if (self.ends.size() > 1 || !self.text.empty())
      break;
  }
  if (auto checked = self.check_text(); !checked) {
    self.goes_on = true;
    return std::move(checked).error();
  }
  self.fields.clear();
  std::size_t begin = 0;
  for (auto end : self.ends) {
    self.fields.push_back(
      std::string_view{self.text}.substr(begin, end - begin));
    begin = end;
  }
  return true;
}

const std::vector<std::string_view>& csv_reader::fields() const {
  return impl_->fields;
}

std::int64_t csv_reader::comments() const {
  return impl_->comments;
}

char csv_reader::comment_mark() const {
  return impl_->comment;
}

std::int64_t csv_reader::line() const {
  return impl_->line;
}

std::int64_t csv_reader::lines() const {
  if (impl_->first_line == 0)
    return 1;
  const auto row = impl_->row();
  return std::ranges::count(row, '\n') + (row.ends_with('\n') ? 0 : 1);
}

std::vector<std::int64_t> csv_reader::separators_by_line() const {
  std::vector<std::int64_t> out;
  for (auto left = impl_->row(); !left.empty();) {
    const auto line = left.substr(0, left.find('\n'));
    out.push_back(std::ranges::count_if(line, [this](char c) {
      return impl_->is_separator(static_cast<unsigned char>(c));
    }));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
  }
  return out;
}
void csv_reader::cut_to_first_line() {
  impl_->cut_to_first_line();
}

bool csv_reader::goes_on() const {
  return impl_->goes_on && !impl_->failure;
}

const std::filesystem::path& csv_reader::path() const {
  return impl_->path;
}

std::string csv_reader::row_text() const {
  auto row = impl_->row();
  if (row.ends_with('\n'))
    row.remove_suffix(1);
  if (row.ends_with('\r'))
    row.remove_suffix(1);
  return std::string{row};
}

error csv_reader::wrong(std::string_view sentence) const {
  return fail(ec::invalid_data, "{}:{}: {}", impl_->path.string(), impl_->line,
              sentence);
}

} // namespace graphmill
