#include "actors/transport/sockets/connections/keys.hpp"

#include "actors/transport/sockets/connections/file_handle.hpp"
#include "messages/wire/cluster.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace graphmill {

namespace {

constexpr std::size_t key_text = 40;
constexpr std::size_t key_bytes = 32;
constexpr std::string_view first_line = "graphmill-keys 1";
constexpr std::string_view first_line_with_role = "graphmill-keys 2\n";

/// Overwrites bytes with zeros at the end of its scope.
class wiper {
public:
  wiper(char* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  explicit wiper(std::string& text) : wiper(text.data(), text.size()) {}
  ~wiper() { ::explicit_bzero(bytes_, size_); }
  wiper(const wiper&) = delete;
  wiper& operator=(const wiper&) = delete;

private:
  char* bytes_;
  std::size_t size_;
};

/// At most some hundred bytes: more is no key file.
result<std::string> read_some(int from, const std::string& name) {
  std::array<char, 1024> bytes;
  const wiper wiped{bytes.data(), bytes.size()};
  std::string text;
  text.reserve(bytes.size()); // Else it would leave copies where it grew.
  while (text.size() < bytes.size()) {
    const auto done = ::read(from, bytes.data(), bytes.size() - text.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail_errno(errno, "cannot read the key file {}", name);
    if (done == 0)
      break;
    text.append(bytes.data(), static_cast<std::size_t>(done));
  }
  return text;
}

/// The rest of the line that begins with `label`; empty if there is none.
std::string value_of(std::string_view text, std::string_view label) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    if (line.starts_with(label))
      return std::string{line.substr(label.size())};
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return {};
}

/// What a file of the second version has more than one of the first. Nothing of
/// it is secret.
std::string lines_of_role(const curve_keys& keys) {
  return fmt::format("role {}\nname {}\ncoordinator {}\n", to_string(keys.role),
                     keys.name, keys.coordinator_key);
}

/// Fails unless a role, a name and the coordinator's key are given, and a
/// coordinator names its own.
result<void> read_role(curve_keys& into, std::string_view text) {
  into.role = role_named(value_of(text, "role "));
  into.name = value_of(text, "name ");
  into.coordinator_key = value_of(text, "coordinator ");
  const auto own = into.coordinator_key == into.public_key;
  if (into.role == key_role::all || !is_member_name(into.name)
      || !is_public_key(into.coordinator_key)
      || own != (into.role == key_role::coordinator))
    return fail(ec::invalid_data,
                "{} has a key without a role: `graphmill keygen` with "
                "--coordinator, --daemon or --client makes keys with roles",
                into.file);
  return ok();
}

} // namespace

bool is_public_key(const std::string& text) {
  // libzmq would read some texts that it does not write.
  std::array<std::uint8_t, key_bytes> bytes;
  std::array<char, key_text + 1> again;
  return text.size() == key_text && text.find('\0') == std::string::npos
         && std::all_of(text.begin(), text.end(),
                        [](char c) { return c > ' ' && c <= '~'; })
         && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr
         && zmq_z85_encode(again.data(), bytes.data(), bytes.size()) != nullptr
         && text == again.data();
}

bool is_member_name(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789._-";
  return !name.empty() && name.size() <= longest_member_name
         && name.find_first_not_of(allowed) == std::string_view::npos;
}

key_role role_named(std::string_view name) {
  for (const auto role : {key_role::coordinator, key_role::daemon,
                          key_role::client, key_role::reader})
    if (to_string(role) == name)
      return role;
  return key_role::all;
}

result<curve_keys> make_keys() {
  std::array<char, key_text + 1> open;
  std::array<char, key_text + 1> secret;
  const wiper wiped{secret.data(), secret.size()};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0)
    return fail(ec::internal,
                "cannot make keys: this libzmq was built without CURVE");
  return curve_keys{open.data(), secret.data()};
}

result<void> write_keys(const curve_keys& keys,
                        const std::filesystem::path& file) {
  const file_handle to{::open(
    file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (to.number() < 0 && errno == EEXIST)
    return fail(ec::invalid_argument,
                "{} is there already, and a cluster that uses it would refuse "
                "new keys: choose another name or remove it",
                file.string());
  if (to.number() < 0)
    return fail_errno(errno, "cannot create the key file {}", file.string());
  auto text =
    keys.role == key_role::all
      ? fmt::format("{}\n"
                    "# Whoever can read this file can use the cluster.\n"
                    "public {}\nsecret {}\n",
                    first_line, keys.public_key, keys.secret_key)
      : fmt::format(
        "{}# Whoever can read this file can use the cluster as {}.\n"
        "{}public {}\nsecret {}\n",
        first_line_with_role, label_of({keys.role, keys.name, {}}),
        lines_of_role(keys), keys.public_key, keys.secret_key);
  const wiper wiped{text};
  return write_all(to, text, "the key file " + file.string());
}

result<curve_keys> read_keys(const std::filesystem::path& file) {
  const file_handle from{
    ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (from.number() < 0)
    return fail_errno(errno, "cannot open the key file {}", file.string());
  struct stat about {};
  if (::fstat(from.number(), &about) != 0)
    return fail_errno(errno, "cannot read the key file {}", file.string());
  if (!S_ISREG(about.st_mode))
    return fail(ec::invalid_data, "{} is no file with keys", file.string());
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(ec::permission,
                "others can read the key file {}: chmod 600 it, and make new "
                "keys if somebody may have read it",
                file.string());
  GRAPHMILL_TRY(auto text, read_some(from.number(), file.string()));
  const wiper wiped{text};
  curve_keys keys{value_of(text, "public "), value_of(text, "secret "),
                  file.string()};
  std::array<char, key_text + 1> derived;
  const auto has_role = text.starts_with(first_line_with_role);
  if (!(has_role || text.starts_with(first_line))
      || keys.secret_key.size() != key_text
      || zmq_curve_public(derived.data(), keys.secret_key.c_str()) != 0
      || keys.public_key != derived.data())
    return fail(ec::invalid_data,
                "{} holds no valid pair of keys; `graphmill keygen` makes one",
                file.string());
  if (has_role)
    GRAPHMILL_TRYV(read_role(keys, text));
  return keys;
}

} // namespace graphmill
