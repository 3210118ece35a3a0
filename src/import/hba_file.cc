#include "import/hba_file.h"

#include <optional>
#include <string_view>
#include <utility>

namespace sluice::import {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

// Takes what stands behind the opening quote of `line`, and the closing one; false where there is none.
bool take_quoted(std::string_view line, std::size_t& at, std::string& text) {
  for (;;) {
    const std::size_t end = line.find('"', at);
    if (end == line.npos) return false;
    text += line.substr(at, end - at);
    at = end + 1;
    if (at == line.size() || line[at] != '"') return true;
    text += line[at++];  // "" is one quote
  }
}

// The columns of one line, or nullopt where a quote is not closed.
std::optional<std::vector<HbaColumn>> columns_of(std::string_view line) {
  std::vector<HbaColumn> columns;
  bool more = false;  // a comma has come: the next word belongs to the same column
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    if (line[at] == ',') {
      more = !columns.empty();
      ++at;
      continue;
    }
    HbaWord word;
    while (at < line.size() && !is_blank(line[at]) && line[at] != ',' && line[at] != '#') {
      if (line[at] != '"') {
        word.text += line[at++];
        continue;
      }
      if (!take_quoted(line, ++at, word.text)) return std::nullopt;
      word.quoted = true;
    }
    if (!std::exchange(more, false)) columns.emplace_back();
    columns.back().push_back(std::move(word));
  }
  return columns;
}

std::string beside(const std::string& file, const std::string& name) {
  const std::size_t slash = file.rfind('/');
  return name.starts_with('/') || slash == file.npos ? name : file.substr(0, slash + 1) + name;
}

class HbaReader {
 public:
  HbaReader(const ReadFile& read, HbaFile& file) : read_(read), file_(file) {}

  template <class Take>
  void each_line(const std::string& path, const Take& take) {
    const FileRead got = read_(path);
    if (!got.text) return problem({path, 0}, got.problem);
    std::string_view rest = *got.text;
    for (std::uint32_t number = 1; !rest.empty() && file_.problems.empty(); ++number) {
      const std::size_t end = rest.find('\n');
      const Place place{path, number};
      if (auto columns = columns_of(rest.substr(0, end))) {
        take(place, *std::move(columns));
      } else {
        problem(place, "a quote is not closed");
      }
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }

  void rule(const Place& place, std::vector<HbaColumn> columns) {
    if (columns.empty()) return;
    if (file_.lines.size() >= kHbaLinesMax)
      return problem(place, "is beyond " + std::to_string(kHbaLinesMax) + " rules");
    // Databases and users alone may stand in files.
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}})
      if (index < columns.size()) columns[index] = without_files(place, std::move(columns[index]));
    file_.lines.push_back({place, std::move(columns)});
  }

 private:
  void problem(const Place& place, std::string text) {
    file_.problems.push_back({place, "", std::move(text)});
  }

  HbaColumn without_files(const Place& place, HbaColumn column) {
    HbaColumn names;
    for (HbaWord& word : column)
      add(place, std::move(word), 0, names);
    return names;
  }

  // The word, or the names in the file that it stands for; `depth` files lead to it.
  void add(const Place& place, HbaWord word, std::size_t depth, HbaColumn& names) {
    if (!file_.problems.empty()) return;
    if (word.quoted || !word.text.starts_with('@')) {
      if (names.size() < kHbaNamesMax) return names.push_back(std::move(word));
      return problem(place, "has more than " + std::to_string(kHbaNamesMax) + " names in one column");
    }
    if (depth == kHbaDepthMax)
      return problem(
          place, "is the last of more than " + std::to_string(kHbaDepthMax) + " files that name each other");
    if (++files_ > kIniFilesMax)
      return problem(place, "names more than " + std::to_string(kIniFilesMax) + " files");
    each_line(beside(place.file, word.text.substr(1)),
              [&](const Place& inner, std::vector<HbaColumn> columns) {
                for (HbaColumn& each : columns)
                  for (HbaWord& name : each)
                    add(inner, std::move(name), depth + 1, names);
              });
  }

  const ReadFile& read_;
  HbaFile& file_;
  std::size_t files_ = 0;
};

}  // namespace

HbaFile read_hba(const std::string& path, const ReadFile& read) {
  HbaFile file;
  HbaReader reader(read, file);
  reader.each_line(path, [&](const Place& place, std::vector<HbaColumn> columns) {
    reader.rule(place, std::move(columns));
  });
  return file;
}

}  // namespace sluice::import
