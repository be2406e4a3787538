#include "actors/transport/sockets/connections/members.hpp"

#include "actors/transport/sockets/connections/file_handle.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "messages/wire/cluster.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view members_line = "graphmill-members 1";

/// More is no members file.
constexpr std::size_t longest_members_file = std::size_t{1} << 20;

/// The words of a line; none of a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> out;
  for (;;) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos || (out.empty() && line[begin] == '#'))
      return out;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(blanks), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// Takes the first line off a text.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string line_of(const key_holder& member) {
  return fmt::format("{} {} {}\n", to_string(member.role), member.name,
                     member.key);
}

result<key_holder> read_member(const std::vector<std::string_view>& words,
                               const std::string& file, std::size_t number) {
  key_holder out;
  if (words.size() == 3)
    out = {role_named(words[0]), std::string{words[1]}, std::string{words[2]}};
  if (out.role == key_role::all || !is_member_name(out.name)
      || !is_public_key(out.key))
    return fail(
      ec::invalid_data,
      "line {} of {} is no member: it must be `ROLE NAME PUBLIC` with the role "
      "coordinator, daemon, client or reader, a name of letters, digits, '.', "
      "'_' and '-', and a public key, as `graphmill keygen` writes it",
      number, file);
  return out;
}

/// What no line alone can tell.
class members_reader {
public:
  explicit members_reader(const std::string& file) : file_(file) {}

  result<void> add(key_holder member, std::size_t number) {
    if (members_.size() >= most_members)
      return fail(ec::invalid_data, "{} has more than {} members", file_,
                  most_members);
    if (!keys_.insert(member.key).second)
      return fail(ec::invalid_data,
                  "line {} of {} repeats a key: each member has its own",
                  number, file_);
    const auto [known, is_new] = roles_.try_emplace(member.name, member.role);
    if (!is_new && known->second != member.role)
      return fail(ec::invalid_data,
                  "line {} of {} gives \"{}\" a second role: use another name",
                  number, file_, member.name);
    members_.push_back(std::move(member));
    return ok();
  }

  result<std::vector<key_holder>> take() {
    const auto leaders =
      std::count_if(members_.begin(), members_.end(), [](const auto& member) {
        return member.role == key_role::coordinator;
      });
    if (leaders != 1)
      return fail(ec::invalid_data, "{} has {} coordinators, must have one",
                  file_, leaders);
    return std::move(members_);
  }

private:
  const std::string& file_;
  std::vector<key_holder> members_;
  std::set<std::string> keys_;
  std::map<std::string, key_role> roles_;
};

result<std::string> read_text(const file_handle& from,
                              const std::string& file) {
  struct stat about {};
  if (::fstat(from.number(), &about) != 0)
    return fail_errno(errno, "cannot read the members file {}", file);
  if (!S_ISREG(about.st_mode))
    return fail(ec::invalid_data, "{} is no members file", file);
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0
      || (about.st_uid != ::geteuid() && about.st_uid != 0))
    return fail(ec::permission,
                "others can write the members file {} and so admit anyone: "
                "make it yours, chmod 644 it, and check its lines",
                file);
  std::string text;
  std::array<char, 65536> bytes;
  while (text.size() <= longest_members_file) {
    const auto done = ::read(from.number(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail_errno(errno, "cannot read the members file {}", file);
    if (done == 0)
      return text;
    text.append(bytes.data(), static_cast<std::size_t>(done));
  }
  return fail(ec::invalid_data,
              "{} is no members file: it has more than {} "
              "bytes",
              file, longest_members_file);
}

int open_members(const fs::path& file) {
  return ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

error cannot_open(const fs::path& file) {
  return errno == ENOENT
           ? fail(ec::not_found,
                  "there is no members file {}: `graphmill keygen "
                  "--coordinator NAME` makes one",
                  file.string())
           : fail_errno(errno, "cannot open the members file {}",
                        file.string());
}

/// Has a name in a folder reach the disk.
void sync_folder_of(const fs::path& file) {
  const auto folder =
    file.has_parent_path() ? file.parent_path() : fs::path{"."};
  const file_handle of{
    ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (of.number() >= 0)
    (void)::fsync(of.number()); // Some file systems cannot.
}

/// Whoever watches the file finds the old one or the new one, never half of it.
result<void> replace(const fs::path& file, const std::string& text) {
  const auto draft = fs::path{file}.concat(".new");
  ::unlink(draft.c_str()); // Of one who was killed; we have the lock.
  const file_handle to{::open(draft.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)};
  if (to.number() < 0)
    return fail_errno(errno, "cannot create {}", draft.string());
  auto written = write_all(to, text, draft.string());
  if (written && ::rename(draft.c_str(), file.c_str()) != 0)
    written = fail_errno(errno, "cannot replace {}", file.string());
  if (!written)
    ::unlink(draft.c_str());
  else
    sync_folder_of(file);
  return written;
}

/// Replaces a members file by what `edit` makes of its text, which must be
/// sound, before and after.
template <class Edit>
result<void> edit_members(const fs::path& file, Edit edit) {
  const file_handle from{open_members(file)};
  if (from.number() < 0)
    return cannot_open(file);
  struct stat ours {};
  struct stat there {};
  if (::flock(from.number(), LOCK_EX | LOCK_NB) != 0
      || ::fstat(from.number(), &ours) != 0 || ::stat(file.c_str(), &there) != 0
      || ours.st_ino != there.st_ino)
    return fail(ec::unavailable, "another process is changing {}: try again",
                file.string());
  GRAPHMILL_TRY(auto text, read_text(from, file.string()));
  GRAPHMILL_TRYV(parse_members(text, file.string()));
  if (!text.ends_with('\n'))
    text += '\n';
  GRAPHMILL_TRY(const auto next, edit(text));
  GRAPHMILL_TRYV(parse_members(next, file.string()));
  return replace(file, next);
}

} // namespace

result<std::vector<key_holder>> parse_members(std::string_view text,
                                              const std::string& file) {
  const auto first = words_of(take_line(text));
  if (first.size() != 2 || first[0] != "graphmill-members" || first[1] != "1")
    return fail(ec::invalid_data,
                "{} is no members file: its first line must be `{}`", file,
                members_line);
  members_reader all{file};
  for (std::size_t number = 2; !text.empty(); ++number) {
    const auto words = words_of(take_line(text));
    if (words.empty())
      continue;
    GRAPHMILL_TRY(auto member, read_member(words, file, number));
    GRAPHMILL_TRYV(all.add(std::move(member), number));
  }
  return all.take();
}

result<std::vector<key_holder>> read_members(const fs::path& file) {
  const file_handle from{open_members(file)};
  if (from.number() < 0)
    return cannot_open(file);
  GRAPHMILL_TRY(const auto text, read_text(from, file.string()));
  return parse_members(text, file.string());
}

std::string members_text(const std::vector<key_holder>& members) {
  auto out = fmt::format("{}\n", members_line);
  for (const auto& member : members)
    out += line_of(member);
  return out;
}

const key_holder& coordinator_of(const std::vector<key_holder>& members) {
  return *std::find_if(members.begin(), members.end(), [](const auto& member) {
    return member.role == key_role::coordinator;
  });
}

result<void> make_members(const fs::path& file, const key_holder& coordinator) {
  const file_handle to{::open(file.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)};
  if (to.number() < 0 && errno == EEXIST)
    return fail(ec::invalid_argument,
                "{} is there already, and a cluster has one coordinator: name "
                "another file by --members, or remove it",
                file.string());
  if (to.number() < 0)
    return fail_errno(errno, "cannot create {}", file.string());
  GRAPHMILL_TRYV(write_all(
    to,
    fmt::format(
      "{}\n"
      "# Members whose keys the coordinator admits: ROLE NAME PUBLIC.\n"
      "# A removed line takes effect within seconds.\n"
      "{}",
      members_line, line_of(coordinator)),
    file.string()));
  sync_folder_of(file);
  return ok();
}

result<void> add_member(const fs::path& file, const key_holder& member) {
  return edit_members(file, [&member](const std::string& text) {
    return result<std::string>{text + line_of(member)};
  });
}

result<std::size_t> revoke_member(const fs::path& file,
                                  const std::string& name_or_key) {
  std::size_t gone = 0;
  GRAPHMILL_TRYV(
    edit_members(file, [&](const std::string& text) -> result<std::string> {
      std::string out;
      std::string_view rest = text;
      while (!rest.empty()) {
        const auto line = take_line(rest);
        const auto words = words_of(line);
        const auto meant =
          words.size() == 3
          && (words[1] == name_or_key || words[2] == name_or_key);
        if (meant && role_named(words[0]) == key_role::coordinator)
          return fail(ec::invalid_argument,
                      "\"{}\" is the coordinator of {}: its key cannot be "
                      "revoked; make a new cluster instead",
                      name_or_key, file.string());
        if (meant)
          ++gone;
        else
          (out += line) += '\n';
      }
      if (gone == 0)
        return fail(ec::not_found, "{} has no line of \"{}\"", file.string(),
                    name_or_key);
      return out;
    }));
  return gone;
}

members_watch::signature members_watch::sign() const {
  struct stat about {};
  if (::stat(file_.c_str(), &about) != 0)
    return {};
  return {about.st_dev,         about.st_ino,          about.st_size,
          about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ctim.tv_nsec};
}

std::optional<result<std::vector<key_holder>>> members_watch::look() {
  const auto now = sign();
  const auto settled = seen_ == now;
  seen_ = now;
  if (!settled || read_ == now)
    return std::nullopt;
  read_ = now;
  return read_members(file_);
}

} // namespace graphmill
