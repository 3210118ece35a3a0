#include "config/problem.h"

#include <algorithm>

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
  return line;
}

}  // namespace sluice::config
