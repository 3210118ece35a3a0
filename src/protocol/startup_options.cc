#include "protocol/startup_options.h"

#include <cctype>
#include <cstddef>
#include <utility>

namespace sluice::protocol {
namespace {

// One word with its place in the raw text, and for each of its characters where that one's raw text begins (a
// backslash belongs to the character that it protects).
struct Word {
  std::string text;
  std::size_t begin;
  std::size_t end;
  std::vector<std::size_t> raw_at;
};

// isspace() of the C locale, which PostgreSQL runs with here.
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::vector<Word> words_of(std::string_view options) {
  std::vector<Word> words;
  std::size_t i = 0;
  while (true) {
    while (i < options.size() && is_space(options[i]))
      ++i;
    if (i == options.size()) return words;
    Word word{{}, i, i, {}};
    for (; i < options.size() && !is_space(options[i]); ++i) {
      const std::size_t at = i;
      if (options[i] == '\\' && ++i == options.size()) break;
      word.text.push_back(options[i]);
      word.raw_at.push_back(at);
    }
    word.end = i;
    words.push_back(std::move(word));
  }
}

// A setting and the raw text that makes it: [begin, end), whole words unless it shares one with other
// switches.
struct Found {
  OptionSetting setting;
  std::size_t begin;
  std::size_t end;
};

OptionSetting split_setting(std::string_view argument) {
  OptionSetting setting;
  const std::size_t equals = argument.find('=');
  setting.name = argument.substr(0, equals);
  if (equals != std::string_view::npos) setting.value = argument.substr(equals + 1);
  for (char& c : setting.name)
    if (c == '-') c = '_';
  return setting;
}

// The switches of a backend that take an argument; the rest take none and may share a word, as in "-ec a=b".
// Source: PostgreSQL 15, process_postgres_switches.
constexpr std::string_view kSwitchesWithArgument = "BcCDdfhkNprStvW-";

std::vector<Found> find_settings(std::string_view options) {
  std::vector<Found> found;
  const std::vector<Word> words = words_of(options);
  for (std::size_t w = 0; w < words.size(); ++w) {
    const Word& word = words[w];
    if (word.text == "--") break;
    if (word.text.size() < 2 || word.text[0] != '-') continue;
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      const char letter = word.text[i];
      if (kSwitchesWithArgument.find(letter) == std::string_view::npos) continue;
      const bool own_word = i + 1 == word.text.size();
      if (own_word && w + 1 == words.size()) break;
      const std::string_view argument =
          own_word ? std::string_view(words[w + 1].text) : std::string_view(word.text).substr(i + 1);
      if (own_word) ++w;
      if (letter == 'c' || letter == '-')
        found.push_back({split_setting(argument), i == 1 ? word.begin : word.raw_at[i], words[w].end});
      break;
    }
  }
  return found;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// True if the name is one of ours, and then takes the value.
bool take(SluiceOptions& taken, std::string_view name, std::string value) {
  const std::string lower = lower_case(name);
  if (lower.rfind("sluice.", 0) != 0) return false;
  const std::string_view key = std::string_view(lower).substr(7);
  if (key == "priority")
    taken.priority = std::move(value);
  else if (key == "host")
    taken.host = std::move(value);
  else if (key == "target")
    taken.target = std::move(value);
  else if (key == "size")
    taken.size = std::move(value);
  else
    taken.unknown.emplace_back(name);
  return true;
}

}  // namespace

std::vector<std::string> split_options(std::string_view options) {
  std::vector<std::string> texts;
  for (Word& word : words_of(options))
    texts.push_back(std::move(word.text));
  return texts;
}

std::vector<OptionSetting> option_settings(std::string_view options) {
  std::vector<OptionSetting> settings;
  for (Found& found : find_settings(options))
    settings.push_back(std::move(found.setting));
  return settings;
}

SluiceOptions take_sluice_options(StartupMessage& startup) {
  SluiceOptions taken;
  std::string rest;
  std::size_t kept_to = 0;
  for (Found& found : find_settings(startup.options)) {
    if (!take(taken, found.setting.name, std::move(found.setting.value).value_or(""))) continue;
    rest.append(startup.options, kept_to, found.begin - kept_to);
    const bool whole_word = found.begin == 0 || is_space(startup.options[found.begin - 1]);
    kept_to = found.end;
    // The space behind a removed word goes with it, and in front of it if nothing follows.
    while (whole_word && kept_to < startup.options.size() && is_space(startup.options[kept_to]))
      ++kept_to;
    while (whole_word && kept_to == startup.options.size() && !rest.empty() && is_space(rest.back()) &&
           !(rest.size() > 1 && rest[rest.size() - 2] == '\\'))
      rest.pop_back();
  }
  rest.append(startup.options, kept_to);
  startup.options = std::move(rest);

  std::vector<Parameter> others;
  for (Parameter& parameter : startup.parameters)
    if (!take(taken, parameter.first, parameter.second)) others.push_back(std::move(parameter));
  startup.parameters = std::move(others);
  return taken;
}

}  // namespace sluice::protocol
