#include "config/userlist.h"

#include <algorithm>
#include <optional>

namespace sluice::config {
namespace {

constexpr std::size_t kUserBytesMax = 63;  // PostgreSQL's names
constexpr std::size_t kSecretBytesMax = 2048;
constexpr std::size_t kUserlistProblemCountMax =
    20;  // a file of another format need not say so a million times

// One line, read from the left.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r'))
      ++at_;
  }
  bool at_end() const { return at_ == line_.size(); }
  char next() const { return line_[at_]; }
  std::uint32_t column() const { return static_cast<std::uint32_t>(at_) + 1; }

  // nullopt: no string in quotes begins here, or it does not end.
  std::optional<std::string> quoted() {
    if (at_end() || next() != '"') return std::nullopt;
    std::string text;
    for (std::size_t i = at_ + 1; i < line_.size(); ++i) {
      if (line_[i] != '"') {
        text += line_[i];
      } else if (i + 1 < line_.size() && line_[i + 1] == '"') {
        text += line_[i++];
      } else {
        at_ = i + 1;
        return text;
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0;
};

bool is_base64(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return !text.empty() && text.size() % 4 == 0 &&
         std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
                  c == '/';
         });
}

// SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>, the keys of 32 bytes.
bool is_verifier(std::string_view secret) {
  constexpr std::size_t kKeyBase64Bytes = 44;
  std::string_view rest = secret.substr(secret.find('$') + 1);
  const auto take = [&](char end) {
    const std::size_t at = rest.find(end);
    const std::string_view part = rest.substr(0, at);
    rest = at == rest.npos ? std::string_view() : rest.substr(at + 1);
    return part;
  };
  const std::string_view iterations = take(':');
  const std::string_view salt = take('$');
  const std::string_view stored_key = take(':');
  const bool counted =
      !iterations.empty() && iterations.size() < 10 && iterations.front() != '0' &&
      std::all_of(iterations.begin(), iterations.end(), [](char c) { return c >= '0' && c <= '9'; });
  return counted && is_base64(salt) && stored_key.size() == kKeyBase64Bytes && is_base64(stored_key) &&
         rest.size() == kKeyBase64Bytes && is_base64(rest);
}

// "" or what is wrong with the line; then the reader stands at the wrong place.
std::string read_entry(LineReader& reader, UserEntry& entry) {
  std::optional<std::string> name = reader.quoted();
  if (!name) return "no user name in double quotes";
  if (name->empty() || name->size() > kUserBytesMax) return "a user name has 1 to 63 bytes";
  reader.skip_blanks();
  std::optional<std::string> secret = reader.quoted();
  if (!secret) return "no secret in double quotes behind the user name";
  if (secret->size() > kSecretBytesMax) return "a secret has at most 2048 bytes";
  if (secret_kind(*secret) == SecretKind::Scram && !is_verifier(*secret))
    return "a secret that begins like a SCRAM verifier and is none";
  entry = {std::move(*name), std::move(*secret)};
  return "";
}

struct Numbered {
  UserEntry entry;
  std::uint32_t line;
};

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

}  // namespace

std::vector<UserEntry> parse_userlist(std::string_view text, const std::string& file, Problems& problems) {
  std::vector<Numbered> found;
  std::size_t problem_count = 0;
  const auto report = [&](std::uint32_t line, std::uint32_t column, std::string message, std::string hint) {
    if (++problem_count <= kUserlistProblemCountMax)
      problems.push_back({file, line, column, Severity::Error, "", std::move(message), std::move(hint)});
  };
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    LineReader reader(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    reader.skip_blanks();
    if (reader.at_end() || reader.next() == ';' || reader.next() == '#') continue;
    UserEntry entry;
    const std::string wrong = read_entry(reader, entry);
    if (wrong.empty() &&
        (entry.name.find('\0') != entry.name.npos || entry.secret.find('\0') != entry.secret.npos)) {
      report(line, 0, "contains a zero byte", "");
    } else if (wrong.empty()) {
      found.push_back({std::move(entry), line});
    } else {
      report(line, reader.column(), wrong, "a line is \"user\" \"secret\"; a quote inside is doubled");
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Numbered& a, const Numbered& b) { return a.entry.name < b.entry.name; });
  std::vector<UserEntry> users;
  users.reserve(found.size());
  std::uint32_t first_line = 0;
  for (Numbered& each : found) {
    if (!users.empty() && users.back().name == each.entry.name) {
      report(each.line, 1, "this user has an entry already, in line " + std::to_string(first_line),
             "remove one");
      continue;
    }
    first_line = each.line;
    users.push_back(std::move(each.entry));
  }
  return users;
}

SecretKind secret_kind(std::string_view secret) {
  if (secret.empty()) return SecretKind::None;
  if (secret.starts_with("SCRAM-SHA-256$")) return SecretKind::Scram;
  if (secret.size() == 35 && secret.starts_with("md5") && is_hex(secret.substr(3))) return SecretKind::Md5;
  return SecretKind::Plain;
}

}  // namespace sluice::config
