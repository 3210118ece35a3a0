#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/records.h"
#include "bench/run_info.h"

namespace sluice::bench {

// DIR/runs: a folder per run, which is there whole or not at all. All throw Failure with the path when the
// disk does not do as it is told.

enum class Present { No, Same, Other };  // Other: a run of that name, but asked for with something else
Present present(const std::filesystem::path& output, const RunKey& key);

// Every run.json below DIR/runs, by folder name. What is not one, or not whole, ends it.
std::vector<RunInfo> read_runs(const std::filesystem::path& output);

// Writes one run beside its place, and moves it there when it is whole; before that a fault or the end of the
// program leaves what was there.
class RunFolder {
 public:
  RunFolder(const std::filesystem::path& output, const RunKey& key);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();  // removes what was not finished

  void add(const QueryRecord& record, const std::string& class_name);
  void add(const SessionRecord& record, const std::string& class_name);
  void finish(const RunInfo& info);

 private:
  std::filesystem::path place_, partial_;
  std::ofstream queries_, sessions_;
};

// "" when there is no such file; throws Failure when it cannot be read, or has more than `bytes_max`.
std::string read_text(const std::filesystem::path& path, std::size_t bytes_max);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace sluice::bench
