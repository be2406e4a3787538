#include "pipelines/results/safetensors_header.hpp"

#include "partition/files/json_text.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr auto metadata_key = "__metadata__";
/// Values of a header: a tensor with eight dimensions has 14, with brackets.
constexpr auto most_header_values = 16 * most_tensors_of_file;

/// Values of a shape, or nothing if their bytes do not fit 63 bits.
std::optional<std::uint64_t> element_count(const json& shape) {
  std::uint64_t count = 1;
  for (const auto& extent : shape)
    if (__builtin_mul_overflow(count, extent.get<std::uint64_t>(), &count)
        || count > (std::uint64_t{1} << 60))
      return std::nullopt;
  return count;
}

bool unsigned_list(const json& value) {
  return value.is_array()
         && std::all_of(value.begin(), value.end(), [](const json& item) {
              return item.is_number_unsigned()
                     && item.get<std::uint64_t>() <= std::uint64_t{1} << 62;
            });
}

struct entry {
  named_tensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class header_reader {
public:
  header_reader(const std::string& file, std::uint64_t data_size)
    : file_(file), data_size_(data_size) {}

  result<tensor_file> read(const std::string& text) {
    GRAPHMILL_TRY(const auto header, parse(text));
    tensor_file out;
    for (const auto& [name, value] : header.items()) {
      if (name == metadata_key) {
        GRAPHMILL_TRY(out.metadata, metadata(value));
        continue;
      }
      GRAPHMILL_TRY(auto tensor, read_entry(name, value));
      entries_.push_back(std::move(tensor));
    }
    GRAPHMILL_TRYV(check_layout());
    for (auto& found : entries_) {
      found.tensor.values.resize((found.end - found.begin) / sizeof(float));
      out.tensors.push_back(std::move(found.tensor));
    }
    return out;
  }

private:
  result<json> parse(const std::string& text) {
    GRAPHMILL_TRY(auto header, parse_json(text, "the header of " + file_,
                                          most_header_values));
    if (!header.is_object())
      return fail(ec::invalid_data, "the header of {} is not a JSON object",
                  file_);
    if (const auto tensors = header.size() - header.count(metadata_key);
        tensors > most_tensors_of_file)
      return fail(ec::invalid_data, "{} has {} tensors; at most {} are read",
                  file_, tensors, most_tensors_of_file);
    if (const auto twice = repeated_key(text))
      return fail(ec::invalid_data, "{} names tensor {} twice", file_, *twice);
    return header;
  }

  result<std::map<std::string, std::string>> metadata(const json& value) {
    std::map<std::string, std::string> out;
    if (!value.is_object())
      return fail(ec::invalid_data, "the metadata of {} is not an object",
                  file_);
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string())
        return fail(ec::invalid_data, "metadata {} of {} is not a text", key,
                    file_);
      out[key] = text.get<std::string>();
    }
    return out;
  }

  result<entry> read_entry(const std::string& name, const json& value) {
    const auto broken = [&](const char* label) {
      return fail(ec::invalid_data, "tensor {} of {} {}", name, file_, label);
    };
    if (!value.is_object() || !value.contains("dtype")
        || !value.contains("shape") || !value.contains("data_offsets"))
      return broken("lacks dtype, shape or data_offsets");
    const auto& shape = value["shape"];
    const auto& offsets = value["data_offsets"];
    if (value["dtype"] != "F32")
      return broken("is not of dtype F32");
    if (!unsigned_list(shape) || shape.size() > 8)
      return broken("has a shape that is no list of up to 8 counts");
    if (!unsigned_list(offsets) || offsets.size() != 2)
      return broken("has data_offsets that are no pair of counts");
    entry out{.tensor = {.name = name,
                         .shape = shape.get<std::vector<std::int64_t>>(),
                         .values = {}},
              .begin = offsets[0].get<std::uint64_t>(),
              .end = offsets[1].get<std::uint64_t>()};
    if (out.begin > out.end || out.end > data_size_)
      return broken("lies outside of the file");
    const auto count = element_count(shape);
    if (!count || *count * sizeof(float) != out.end - out.begin)
      return broken("has a shape that does not fit its size");
    return out;
  }

  result<void> check_layout() {
    std::sort(entries_.begin(), entries_.end(),
              [](const entry& a, const entry& b) {
                return std::tie(a.begin, a.end, a.tensor.name)
                       < std::tie(b.begin, b.end, b.tensor.name);
              });
    std::uint64_t at = 0;
    for (const auto& found : entries_) {
      if (found.begin != at)
        return fail(ec::invalid_data,
                    "tensor {} of {} begins at byte {} of the data, the one "
                    "before it ends at {}",
                    found.tensor.name, file_, found.begin, at);
      at = found.end;
    }
    if (at != data_size_)
      return fail(ec::invalid_data,
                  "{} holds {} bytes of tensors, its header tells of {}", file_,
                  data_size_, at);
    return ok();
  }

  const std::string& file_;
  std::uint64_t data_size_;
  std::vector<entry> entries_;
};

} // namespace

result<std::string>
format_tensor_header(std::span<const named_tensor> tensors,
                     const std::map<std::string, std::string>& metadata) {
  if (tensors.size() > most_tensors_of_file)
    return fail(ec::invalid_argument,
                "{} tensors cannot be saved in a file, which has at most {}",
                tensors.size(), most_tensors_of_file);
  ordered_json header = ordered_json::object();
  if (!metadata.empty())
    header[metadata_key] = metadata;
  // Looking for a key in ordered fields takes as long as there are.
  auto& fields = header.get_ref<ordered_json::object_t&>();
  std::set<std::string_view> taken{metadata_key};
  std::uint64_t at = 0;
  for (const auto& tensor : tensors) {
    std::uint64_t count = 1;
    for (auto extent : tensor.shape)
      count *= static_cast<std::uint64_t>(extent);
    if (tensor.name.empty() || !taken.insert(tensor.name).second
        || count != tensor.values.size())
      return fail(ec::invalid_argument,
                  "tensor '{}' cannot be saved: its name is empty, taken or "
                  "reserved, or its {} values do not fit its shape",
                  tensor.name, tensor.values.size());
    const auto end = at + count * sizeof(float);
    ordered_json about{
      {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    fields.emplace_back(tensor.name, std::move(about));
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    return fail(ec::invalid_argument,
                "a tensor's name or a text about it is not valid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

result<tensor_file> parse_tensor_header(const std::string& json,
                                        std::uint64_t data_size,
                                        const std::string& name) {
  return header_reader{name, data_size}.read(json);
}

} // namespace graphmill
