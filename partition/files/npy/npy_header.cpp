#include "partition/files/npy/npy_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <optional>

namespace graphmill {

// The elements are mapped as they lie in the file, little-endian.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = std::size_t{1} << 20;
constexpr std::size_t most_dimensions = 16;

struct dtype_row {
  dtype type;
  std::string_view name;
  std::string_view code; ///< Of numpy, without the byte order.
  std::size_t size;
};

/// So many types, the first ones, are of arrays that Graphmill writes.
constexpr std::size_t own_dtypes = 9;

constexpr std::array<dtype_row, 12> dtypes{{
  {dtype::float16, "float16", "f2", 2},
  {dtype::float32, "float32", "f4", 4},
  {dtype::float64, "float64", "f8", 8},
  {dtype::int8, "int8", "i1", 1},
  {dtype::uint8, "uint8", "u1", 1},
  {dtype::int16, "int16", "i2", 2},
  {dtype::int32, "int32", "i4", 4},
  {dtype::uint32, "uint32", "u4", 4},
  {dtype::int64, "int64", "i8", 8},
  {dtype::uint16, "uint16", "u2", 2},
  {dtype::uint64, "uint64", "u8", 8},
  {dtype::boolean, "bool", "b1", 1},
}};

constexpr const dtype_row& row_of(dtype type) {
  return dtypes[static_cast<std::size_t>(type)];
}

result<dtype> parse_descr(std::string_view descr, bool any) {
  if (descr.size() > 1 && descr[0] == '>' && descr.substr(2) != "1")
    return fail(ec::invalid_data,
                "its elements are big-endian ({}); save it as little-endian",
                descr);
  if (descr.find('O') != descr.npos)
    return fail(ec::invalid_data,
                "it holds pickled Python objects ({}); save plain numbers",
                descr);
  const auto code = descr.empty() ? descr : descr.substr(1);
  const std::span known{dtypes};
  for (const auto& row : any ? known : known.first(own_dtypes))
    if (code == row.code
        && (descr[0] == '<' || (row.size == 1 && descr[0] == '|')))
      return row.type;
  const auto is_a = [code](std::string_view kinds) {
    return !code.empty() && kinds.find(code.front()) != kinds.npos;
  };
  return fail(
    ec::invalid_data, "its element type '{}' is not supported; {}", descr,
    is_a("US")   ? "save numbers: classes from 0 on, as numpy.unique(texts, "
                   "return_inverse=True) makes them, and their names as "
                   "\"class_names\" of meta.json"
    : is_a("Mm") ? "save times as numbers, such as seconds, as "
                   ".astype('M8[s]').astype('i8') does"
                 : "use float16, float32, float64, int8, uint8, "
                   "int16, int32, uint32 or int64");
}

/// Reads the Python dictionary that a header is. Only what numpy writes is
/// accepted: three keys, strings, True or False, a tuple of integers.
class dictionary {
public:
  explicit dictionary(std::string_view text) : text_(text) {}

  result<void> parse() {
    GRAPHMILL_TRYV(expect('{'));
    while (!accept('}')) {
      GRAPHMILL_TRY(const auto key, string());
      GRAPHMILL_TRYV(expect(':'));
      GRAPHMILL_TRYV(value(key));
      if (!accept(',')) {
        GRAPHMILL_TRYV(expect('}'));
        break;
      }
    }
    skip_space();
    if (at_ != text_.size())
      return malformed("text behind the dictionary");
    if (!descr || !fortran_order || !shape)
      return malformed("descr, fortran_order or shape is missing");
    return ok();
  }

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;

private:
  error malformed(std::string_view name) const {
    return fail(ec::invalid_data, "its header is malformed: {} (at byte {})",
                name, at_);
  }

  void skip_space() {
    while (at_ < text_.size()
           && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }

  bool accept(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }

  result<void> expect(char wanted) {
    if (!accept(wanted))
      return malformed(fmt::format("'{}' expected", wanted));
    return ok();
  }

  result<std::string> string() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return malformed("a string expected");
    const auto quote = text_[at_];
    const auto end = text_.find(quote, at_ + 1);
    if (end == text_.npos)
      return malformed("a string does not end");
    const auto begin = std::exchange(at_, end + 1) + 1;
    return std::string{text_.substr(begin, end - begin)};
  }

  result<bool> boolean() {
    skip_space();
    for (const auto& [word, meaning] :
         {std::pair{std::string_view{"True"}, true},
          std::pair{std::string_view{"False"}, false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return meaning;
      }
    return malformed("True or False expected");
  }

  result<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> values;
    GRAPHMILL_TRYV(expect('('));
    while (!accept(')')) {
      std::int64_t extent = 0;
      skip_space();
      const auto* first = text_.data() + at_;
      const auto [last, failed] =
        std::from_chars(first, text_.data() + text_.size(), extent);
      if (failed != std::errc{} || extent < 0)
        return malformed("an extent expected");
      if (values.size() == most_dimensions)
        return malformed("too many dimensions");
      at_ += static_cast<std::size_t>(last - first);
      values.push_back(extent);
      if (!accept(',')) {
        GRAPHMILL_TRYV(expect(')'));
        break;
      }
    }
    return values;
  }

  result<void> value(std::string_view key) {
    skip_space();
    if (key == "descr" && !descr) {
      if (at_ < text_.size() && text_[at_] == '[')
        return fail(ec::invalid_data,
                    "it is an array of records; save plain numbers");
      GRAPHMILL_TRY(descr, string());
    } else if (key == "fortran_order" && !fortran_order) {
      GRAPHMILL_TRY(fortran_order, boolean());
    } else if (key == "shape" && !shape) {
      GRAPHMILL_TRY(shape, tuple());
    } else {
      return malformed(fmt::format("unexpected key '{}'", key));
    }
    return ok();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Finds the dictionary behind magic, version and length.
/// @returns where it begins and ends.
result<std::pair<std::size_t, std::size_t>>
find_dictionary(std::string_view file) {
  if (file.size() < 10 || !file.starts_with(magic))
    return fail(ec::invalid_data, "it is not a .npy file");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[i]));
  };
  const auto major = byte(6);
  if (major < 1 || major > 3)
    return fail(ec::version_mismatch,
                "its .npy format version {}.{} is not known; save it with "
                "version 1.0",
                major, byte(7));
  std::size_t begin = 10;
  auto length = byte(8) | byte(9) << 8;
  if (major > 1) {
    begin = 12;
    if (file.size() < begin)
      return fail(ec::invalid_data, "it is truncated: {} bytes", file.size());
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > longest_header || length > file.size() - begin)
    return fail(ec::invalid_data,
                "its header claims {} bytes, the file has {} (truncated?)",
                length, file.size());
  return std::pair{begin, begin + length};
}

result<void> check_sizes(npy_header& header, std::size_t file_size) {
  const auto element = row_of(header.type).size;
  std::uint64_t count = 1;
  for (auto extent : header.shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent),
                               &count))
      return fail(ec::invalid_data, "its shape overflows");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, element, &bytes)
      || bytes > std::uint64_t{1} << 62)
    return fail(ec::invalid_data, "its shape overflows");
  const auto expected = bytes + header.data_offset;
  if (file_size < expected)
    return fail(ec::invalid_data,
                "it is truncated: {} bytes expected, {} there", expected,
                file_size);
  if (file_size > expected)
    return fail(ec::invalid_data,
                "it has trailing bytes: {} bytes expected, {} there", expected,
                file_size);
  header.size = static_cast<std::int64_t>(count);
  if (header.size != 0 && header.data_offset % element != 0)
    return fail(ec::invalid_data,
                "its elements begin at byte {}, which is no multiple of {}; "
                "save it again with a newer numpy",
                header.data_offset, element);
  return ok();
}

} // namespace

std::size_t size_of(dtype type) {
  return row_of(type).size;
}

std::string_view to_string(dtype type) {
  return row_of(type).name;
}

result<npy_header> parse_npy_header(std::span<const std::byte> file, bool any) {
  const std::string_view text{reinterpret_cast<const char*>(file.data()),
                              file.size()};
  GRAPHMILL_TRY(const auto range, find_dictionary(text));
  dictionary fields{text.substr(range.first, range.second - range.first)};
  GRAPHMILL_TRYV(fields.parse());
  npy_header header;
  header.columns_first = *fields.fortran_order && fields.shape->size() > 1;
  if (header.columns_first && !any)
    return fail(ec::invalid_data,
                "it is in Fortran order; save numpy.ascontiguousarray of it");
  GRAPHMILL_TRY(header.type, parse_descr(*fields.descr, any));
  header.shape = std::move(*fields.shape);
  header.data_offset = range.second;
  GRAPHMILL_TRYV(check_sizes(header, file.size()));
  return header;
}

std::string format_npy_header(dtype type, std::span<const std::int64_t> shape,
                              std::size_t width) {
  const auto& row = row_of(type);
  std::string extents;
  for (auto extent : shape)
    extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  if (shape.size() == 1)
    extents += ',';
  const auto text =
    fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                row.size == 1 ? '|' : '<', row.code, extents);
  constexpr std::size_t preamble = 10;
  auto total = std::max(width, preamble + text.size() + 1);
  total = (total + 63) / 64 * 64;
  const auto length = total - preamble;
  std::string header{magic};
  header += {'\x01', '\x00', static_cast<char>(length & 0xff),
             static_cast<char>(length >> 8)};
  header += text;
  header.append(total - header.size() - 1, ' ');
  header += '\n';
  return header;
}

} // namespace graphmill
