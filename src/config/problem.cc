#include "config/problem.h"

#include <algorithm>
#include <tuple>

namespace sluice::config {

bool has_errors(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::Error; });
}

std::string to_string(const Problem& problem) {
  std::string line = problem.file;
  if (problem.line > 0) line += ":" + std::to_string(problem.line);
  if (problem.line > 0 && problem.column > 0) line += ":" + std::to_string(problem.column);
  line += problem.severity == Severity::Error ? ": error: " : ": warning: ";
  if (!problem.key.empty()) line += problem.key + ": ";
  line += problem.message;
  if (!problem.hint.empty()) line += "; " + problem.hint;
  // Keys and names come from the file; what a terminal would obey must not get through.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return line;
}

void sort_problems(Problems& problems, const std::string& file) {
  std::stable_sort(problems.begin(), problems.end(), [&](const Problem& a, const Problem& b) {
    const bool a_other = a.file != file;
    const bool b_other = b.file != file;
    if (a_other || b_other) return a_other < b_other;
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
}

}  // namespace sluice::config
