#include "bench/workload.h"

#include <algorithm>
#include <utility>

namespace sluice::bench {

std::variant<Workload, Problem> parse_workload(std::string name, std::vector<SourceFile> files,
                                               const Scale& scale) {
  Workload workload;
  workload.name = std::move(name);
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  for (SourceFile& file : files) {
    if (!file.name.ends_with(".sql")) continue;
    if (file.name.starts_with("init_")) {
      workload.init.push_back({file.name, with_scale(file.text, scale)});
    } else if (file.name == "check.sql") {
      workload.check = SourceFile{file.name, with_scale(file.text, scale)};
    } else {
      auto parsed = parse_query_file(file, scale);
      if (auto* const problem = std::get_if<Problem>(&parsed)) return std::move(*problem);
      workload.queries.push_back(std::get<QueryShape>(std::move(parsed)));
    }
  }
  if (workload.queries.empty()) return Problem{workload.name, 0, "there is no query in it: no file *.sql"};
  return workload;
}

std::vector<std::string> embedded_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    names.emplace_back(file.workload);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<SourceFile> embedded_sources(std::string_view name) {
  std::vector<SourceFile> files;
  for (const EmbeddedFile& file : embedded_files())
    if (file.workload == name) files.push_back({std::string(file.name), std::string(file.text)});
  return files;
}

}  // namespace sluice::bench
