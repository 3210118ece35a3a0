#include "bench/workload.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace sluice::bench {

namespace {

// Against mistakes, not against forgery. Source: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash
// Algorithm", FNV-1a with 64 bits.
class Fnv1a {
 public:
  // A text and its end, so that two files are not like one.
  void add(std::string_view text) noexcept {
    for (const char c : text)
      step(static_cast<unsigned char>(c));
    step(0x100);
  }
  std::string hex() const { return fmt::format("{:016x}", value_); }

 private:
  void step(std::uint64_t octet) noexcept { value_ = (value_ ^ octet) * 0x100000001b3U; }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

std::variant<Workload, Problem> parse_workload(std::string name, std::vector<SourceFile> files,
                                               const Scale& scale) {
  Workload workload;
  workload.name = std::move(name);
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  Fnv1a digest;
  for (SourceFile& file : files) {
    if (!file.name.ends_with(".sql")) continue;
    if (file.name != "check.sql") {
      digest.add(file.name);
      digest.add(file.text);
    }
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
  workload.digest = digest.hex();
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
