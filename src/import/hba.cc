// auth_hba_file: what becomes of each rule.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "config/fields.h"
#include "config/network.h"
#include "config/read_record.h"
#include "import/hba_file.h"
#include "import/parts.h"

namespace sluice::import {
namespace {

using config::AuthMethod;

// What a method becomes. None: the rule is left out, and those below decide.
struct Method {
  std::string_view theirs;
  std::optional<AuthMethod> ours;
  std::string_view note;  // empty: the same
};
constexpr std::string_view kNeedsRole =
    "needs a role to log in to PostgreSQL as: scram-sha-256 is written until you set server_user and "
    "server_password_file";
constexpr Method kMethods[] = {
    {"reject", AuthMethod::Reject, ""},
    {"md5", AuthMethod::Md5, ""},
    {"scram-sha-256", AuthMethod::ScramSha256, ""},
    {"password", AuthMethod::Md5, "no password is asked for in the clear: md5 is written, or SCRAM by it"},
    {"plain", AuthMethod::Md5, "no password is asked for in the clear: md5 is written, or SCRAM by it"},
    {"trust", AuthMethod::ScramSha256, kNeedsRole},
    {"cert", AuthMethod::ScramSha256, kNeedsRole},
    {"peer", std::nullopt, "no equivalent: the rule was left out, those below decide"},
    {"ldap", std::nullopt, "no equivalent: the rule was left out, those below decide"},
    {"pam", std::nullopt, "no equivalent: the rule was left out, those below decide"},
};

config::Node scalar(std::string text) {
  config::Node node;
  node.kind = config::Node::Kind::Scalar;
  node.scalar = std::move(text);
  return node;
}

config::Node list(const std::vector<std::string>& texts) {
  config::Node node;
  node.kind = config::Node::Kind::List;
  for (const std::string& text : texts)
    node.items.push_back(scalar(text));
  return node;
}

config::Network masked(const config::Address& address, unsigned bits) {
  config::Network network{.is_unix = false, .ip = address.ip, .prefix_bits = static_cast<std::uint8_t>(bits)};
  for (unsigned bit = bits; bit < 128; ++bit)
    network.ip[bit / 8] = static_cast<std::uint8_t>(network.ip[bit / 8] & ~(0x80U >> bit % 8));
  return network;
}

// Of an address such as 255.255.0.0.
std::optional<unsigned> bits_of_mask(std::string_view text) {
  const auto mask = config::parse_address(text);
  if (!mask) return std::nullopt;
  const bool ipv4 = text.find(':') == text.npos;
  unsigned bits = ipv4 ? 96 : 0;
  while (bits < 128 && (mask->ip[bits / 8] & (0x80U >> bits % 8)) != 0)
    ++bits;
  return masked(*mask, bits).ip == mask->ip ? std::optional(bits) : std::nullopt;
}

struct WrittenNetwork {
  config::Network network;
  bool bits_behind;  // the prefix: PgBouncer compares masked addresses with the whole one, so none matches
};

WrittenNetwork with_prefix(const config::Address& address, unsigned bits) {
  const config::Network network = masked(address, bits);
  return {network, network.ip != address.ip};
}

std::optional<WrittenNetwork> network_of(const std::string& text, const std::string* mask) {
  const std::size_t slash = text.find('/');
  const std::string_view ip = std::string_view(text).substr(0, slash);
  const auto address = config::parse_address(ip);
  if (!address || ip.find('%') != ip.npos) return std::nullopt;
  if (slash == text.npos) {
    const auto bits = mask == nullptr ? std::nullopt : bits_of_mask(*mask);
    return bits ? std::optional(with_prefix(*address, *bits)) : std::nullopt;
  }
  const bool ipv4 = ip.find(':') == ip.npos;
  // Any network with that prefix says whether the prefix is one.
  const auto prefix = config::parse_network((ipv4 ? "0.0.0.0/" : "::/") + text.substr(slash + 1));
  if (!prefix) return std::nullopt;
  return with_prefix(*address, prefix->prefix_bits);
}

class Rule {
 public:
  Rule(const HbaLine& line, bool tls, Output& out, std::vector<Note>& problems)
      : line_(line), tls_(tls), out_(out), problems_(problems) {}

  // A line of the list; empty where it was left out, with a note that says why.
  std::string text() {
    if (!read()) return {};
    return config::print_record(rule_);
  }

 private:
  bool left_out(std::string text) {
    out_.note(line_.place, "", std::move(text) + ": the rule was left out, those below decide");
    return false;
  }

  // It holds there, and not here. Read on: what is left out must not be a refusal.
  void cannot_be_written(std::string text) {
    if (shortcoming_.empty()) shortcoming_ = std::move(text);
  }

  bool read() {
    const auto& columns = line_.columns;
    if (std::any_of(columns.begin(), columns.end(), [](const HbaColumn& c) { return c.empty(); }))
      return left_out("a file of names is empty");
    const std::string& type = columns[0][0].text;
    const bool local = type == "local";
    if (!local && type != "host" && type != "hostssl" && type != "hostnossl")
      return left_out("\"" + type + "\" is no type of connection that PgBouncer knows");
    next_ = local ? 3 : 4;
    if (columns.size() <= next_) return left_out("has too few columns");
    if (type == "hostssl" && !tls_) {
      out_.note(line_.place, "", "never matches, as client_tls_sslmode is disable: the rule was left out");
      return false;
    }
    if (type == "hostssl") rule_.tls = config::TlsUse::Required;
    if (type == "hostnossl") rule_.tls = config::TlsUse::Off;
    if (!names("database", columns[1]) || !names("user", columns[2])) return false;
    if (local) {
      rule_.network = {config::Network{.is_unix = true, .ip = {}, .prefix_bits = 0}};
    } else if (!networks()) {
      return false;
    }
    return method();
  }

  bool networks() {
    const auto& columns = line_.columns;
    for (const HbaWord& word : columns[3]) {
      if (word.is("all")) {
        for (const char* const each : {"0.0.0.0/0", "::/0"})
          rule_.network.push_back(*config::parse_network(each));
        continue;
      }
      const std::string* const mask = columns[4].size() == 1 ? &columns[4][0].text : nullptr;
      const auto network = network_of(word.text, mask);
      if (!network) return left_out("\"" + word.text + "\" is no network");
      if (network->bits_behind)
        return left_out("\"" + word.text + "\" has bits behind its prefix and never matches with PgBouncer");
      if (word.text.find('/') == word.text.npos) next_ = 5;
      rule_.network.push_back(network->network);
    }
    return columns.size() > next_ || left_out("has too few columns");
  }

  // PgBouncer passes over the whole line where it has one such word, whatever else is listed.
  static bool unknown_there(const std::string& key, const HbaWord& word) {
    if (word.quoted) return false;
    return word.text.starts_with('+') || word.text.starts_with('/') ||
           (key == "database" && (word.is("samerole") || word.is("samegroup")));
  }

  // Databases or users into the field of that name.
  bool names(const std::string& key, const HbaColumn& column) {
    for (const HbaWord& word : column)
      if (unknown_there(key, word))
        return left_out("\"" + word.text +
                        "\" stands for a role's members or a pattern, which PgBouncer does not know either");
    if (std::any_of(column.begin(), column.end(), [](const HbaWord& word) { return word.is("all"); }))
      return true;
    std::vector<std::string> listed;
    for (const HbaWord& word : column) {
      if (key == "database" && (word.is("sameuser") || word.is("replication"))) {
        without_.push_back(word.text);
      } else if (word.text.empty() || word.text.find_first_of("*?,") != word.text.npos) {
        cannot_be_written("\"" + word.text + "\" would be a pattern");
      } else if (!is_utf8(word.text) || without_controls(word.text) != word.text) {
        cannot_be_written("a name has bytes that are no text");
      } else {
        listed.push_back(word.text);
      }
    }
    if (listed.empty()) {
      cannot_be_written("none of its " + key + "s has an equivalent");
    } else {
      const auto* const field = config::find_field<config::HbaRule>(key);
      const std::string wrong = field->read(rule_, list(listed), field->limits);
      if (!wrong.empty()) cannot_be_written(key + " " + wrong);
    }
    return true;
  }

  bool method() {
    const std::string& name = line_.columns[next_][0].text;
    const auto method = std::find_if(std::begin(kMethods), std::end(kMethods),
                                     [&](const Method& m) { return m.theirs == name; });
    if (method == std::end(kMethods)) return left_out("\"" + name + "\" is no method that PgBouncer knows");
    if (line_.columns.size() > next_ + 1)
      return left_out("\"" + line_.columns[next_ + 1][0].text +
                      "\" is an option of a method, for which PgBouncer passes over the rule");
    if (method->ours == AuthMethod::Reject && !(shortcoming_.empty() && without_.empty())) {
      if (shortcoming_.empty()) shortcoming_ = "\"" + without_.front() + "\" has no equivalent";
      problems_.push_back({line_.place, "",
                           shortcoming_ + ", and without this rule those below would let in "
                                          "whom it rejects: write it in another way"});
      return false;
    }
    for (const std::string& word : without_)
      out_.note(line_.place, word, "no equivalent: write the rule for it yourself");
    if (!shortcoming_.empty()) return left_out(shortcoming_);
    if (!method->note.empty()) out_.note(line_.place, name, std::string(method->note));
    if (!method->ours) return false;
    rule_.method = *method->ours;
    return true;
  }

  const HbaLine& line_;
  const bool tls_;
  Output& out_;
  std::vector<Note>& problems_;
  config::HbaRule rule_{};
  std::vector<std::string> without_;  // words for databases that the rule is written without
  std::string shortcoming_;           // why the rule cannot be written; empty: it can
  std::size_t next_ = 0;              // the column of the method
};

}  // namespace

void translate_hba(const Settings& settings, const ReadFile& read, Output& out, std::vector<Note>& problems) {
  const IniEntry* const named = settings.find("auth_hba_file");
  if (named == nullptr || named->value.empty()) return;
  if (settings.value("auth_type", "") != "hba")
    return out.note(named->place, "auth_hba_file", "is not used, as auth_type is not hba");
  const HbaFile file = read_hba(named->value, read);
  problems = file.problems;
  if (!problems.empty()) return;
  const bool tls = settings.value("client_tls_sslmode", "disable") != "disable";
  out.line("hba:");
  for (const HbaLine& line : file.lines) {
    if (const std::string text = Rule(line, tls, out, problems).text(); !text.empty())
      out.line("  - " + text);
  }
  // As there: nobody comes in whom no rule lets in. A list without rules would be none.
  out.line("  - {method: reject}");
}

}  // namespace sluice::import
