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

  // What cannot be written is told by fault(), as these are called in the middle of sessions.
  void add(const QueryRecord& record, const std::string& class_name);
  void add(const SessionRecord& record, const std::string& class_name);
  void flush();  // so that a full disk is noticed before the buffers are full
  // Which file could not be written, and why; "" as long as all could.
  const std::string& fault() const noexcept { return fault_; }
  // Puts the run into its place, at once with whatever is there. Throws Failure, then that stays as it was.
  void finish(const RunInfo& info);

 private:
  struct File {
    std::filesystem::path path;
    std::ofstream stream;
  };
  void open(File& file, const char* name, const std::string& header);
  void write(File& file, const std::string& text);

  std::filesystem::path place_, partial_;
  File queries_, sessions_;
  std::string fault_;
};

// "" when there is no such file; throws Failure when it cannot be read, or has more than `bytes_max`.
std::string read_text(const std::filesystem::path& path, std::size_t bytes_max);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace sluice::bench
