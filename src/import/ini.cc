#include "import/ini.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::import {
namespace {

constexpr std::string_view kBlank = " \t\r\v\f";
constexpr std::size_t kNameBytesMax = 128;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// For messages: what a file holds may be anything.
std::string shown(std::string_view text) {
  return without_controls(text.substr(0, 40));
}

class IniReader {
 public:
  explicit IniReader(const ReadFile& read) : read_(read) {}

  void file(const std::string& path, std::size_t depth, const Place& from) {
    if (depth > kIniDepthMax) return problem(from, "%include", "files include each other too deeply");
    if (++files_ > kIniFilesMax)
      return problem(from, "%include", "more files are included than " + std::to_string(kIniFilesMax));
    const FileRead found = read_(path);
    if (!found.text) return problem(from, "", path + " " + found.problem);
    if (found.text->size() > kIniBytesMax)
      return problem({path, 0}, "", "is larger than " + std::to_string(kIniBytesMax) + " bytes");
    if (found.text->find('\0') != std::string::npos) return problem({path, 0}, "", "is no text file");
    std::string_view rest = *found.text;
    Place place{path, 0};
    while (!rest.empty() && ini_.problems.size() < kProblemsMax) {
      const std::size_t end = rest.find('\n');
      ++place.line;
      line(trimmed(rest.substr(0, end)), place, depth);
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
  }

  Ini take() { return std::move(ini_); }

 private:
  static constexpr std::size_t kProblemsMax = 20;

  void problem(const Place& place, std::string key, std::string text) {
    ini_.problems.push_back({place, std::move(key), std::move(text)});
  }

  void line(std::string_view text, const Place& place, std::size_t depth) {
    if (text.empty() || text.front() == ';' || text.front() == '#') return;
    if (text.front() == '%') return directive(text, place, depth);
    if (text.front() == '[') {
      const std::size_t close = text.find(']');
      if (close == text.npos) return problem(place, "", "a section without ]: " + shown(text));
      section_ = ascii_lower(trimmed(text.substr(1, close - 1)));
      return;
    }
    std::string key;
    std::string_view value;
    if (!split(text, key, value))
      return problem(place, "", "neither a section nor key = value: " + shown(text));
    if (ini_.entries.size() >= kIniEntriesMax)
      return problem(place, "", "more than " + std::to_string(kIniEntriesMax) + " settings");
    ini_.entries.push_back({place, section_, std::move(key), std::string(value)});
  }

  // The key may stand in double quotes, as names of databases and users do.
  static bool split(std::string_view text, std::string& key, std::string_view& value) {
    std::size_t at = 0;
    if (text.front() == '"') {
      for (at = 1;; ++at) {
        if (at >= text.size()) return false;
        if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
        if (text[at] == '"') ++at;
        key += text[at];
      }
      ++at;
    } else {
      at = text.find('=');
      if (at == text.npos) return false;
      key = trimmed(text.substr(0, at));
    }
    const std::size_t equals = text.find('=', at);
    if (equals == text.npos || !trimmed(text.substr(at, equals - at)).empty()) return false;
    value = trimmed(text.substr(equals + 1));
    return !key.empty() && key.size() <= kNameBytesMax;
  }

  void directive(std::string_view text, const Place& place, std::size_t depth) {
    constexpr std::string_view kInclude = "%include";
    if (!text.starts_with(kInclude) || text.size() == kInclude.size() ||
        kBlank.find(text[kInclude.size()]) == kBlank.npos)
      return problem(place, "", "an unknown directive: " + shown(text));
    file(std::string(trimmed(text.substr(kInclude.size()))), depth + 1, place);
  }

  const ReadFile& read_;
  Ini ini_;
  std::string section_;
  std::size_t files_ = 0;
};

}  // namespace

Ini read_ini(const std::string& path, const ReadFile& read) {
  IniReader reader(read);
  reader.file(path, 0, {path, 0});
  return reader.take();
}

std::optional<Pairs> parse_pairs(std::string_view text, std::string& bad) {
  constexpr std::size_t kPairsMax = 100;
  Pairs pairs;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t equals = text.find('=');
    const std::string key = ascii_lower(trimmed(text.substr(0, equals)));
    if (equals == text.npos || key.empty() || key.find_first_of(kBlank) != key.npos ||
        pairs.size() >= kPairsMax) {
      bad = shown(key);
      return std::nullopt;
    }
    text = trimmed(text.substr(equals + 1));
    std::string value;
    if (text.starts_with('\'')) {
      std::size_t at = 1;
      for (;; ++at) {
        if (at >= text.size()) return bad = key, std::nullopt;
        if (text[at] == '\'' && (at + 1 >= text.size() || text[at + 1] != '\'')) break;
        if (text[at] == '\'') ++at;
        value += text[at];
      }
      text.remove_prefix(at + 1);
    } else {
      const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
      value = text.substr(0, end);
      text.remove_prefix(end);
    }
    pairs.emplace_back(key, std::move(value));
  }
  return pairs;
}

}  // namespace sluice::import
