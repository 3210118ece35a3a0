#include "bench/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kInfoBytesMax = 1 << 22;

fs::path runs_of(const fs::path& output) {
  return output / "runs";
}

void check(std::error_code ec, const char* what, const fs::path& path) {
  if (ec) throw Failure(std::string("cannot ") + what + " " + path.string() + ": " + ec.message());
}

std::string write_fault(const fs::path& path) {
  const std::string why = errno != 0 ? ": " + std::generic_category().message(errno) : "";
  return "cannot write " + path.string() + why;
}

RunInfo read_info(const fs::path& folder) {
  const fs::path path = folder / "run.json";
  auto parsed = parse_run_info(read_text(path, kInfoBytesMax), path.string());
  if (const auto* const problem = std::get_if<Problem>(&parsed)) throw Failure(problem->text());
  return std::get<RunInfo>(std::move(parsed));
}

}  // namespace

std::string read_text(const fs::path& path, std::size_t bytes_max) {
  std::error_code ec;
  if (!fs::exists(path, ec)) return "";
  const auto size = fs::file_size(path, ec);
  check(ec, "read", path);
  if (size > bytes_max) throw Failure(path.string() + " is larger than anything that is expected there");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw Failure("cannot read " + path.string());
  return text;
}

void write_text(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Failure(write_fault(path));
}

Present present(const fs::path& output, const RunKey& key) {
  const fs::path folder = runs_of(output) / folder_name(key);
  std::error_code ec;
  if (!fs::exists(folder, ec)) return Present::No;
  return read_info(folder).key == key ? Present::Same : Present::Other;
}

std::vector<RunInfo> read_runs(const fs::path& output) {
  std::vector<fs::path> folders;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(runs_of(output), ec))
    if (entry.is_directory() && entry.path().filename().string().front() != '.')
      folders.push_back(entry.path());
  check(ec, "read", runs_of(output));
  std::sort(folders.begin(), folders.end());
  std::vector<RunInfo> runs;
  for (const fs::path& folder : folders)
    runs.push_back(read_info(folder));
  return runs;
}

RunFolder::RunFolder(const fs::path& output, const RunKey& key)
    : place_(runs_of(output) / folder_name(key)), partial_(runs_of(output) / ("." + folder_name(key))) {
  std::error_code ec;
  fs::remove_all(partial_, ec);
  fs::create_directories(partial_, ec);
  check(ec, "make", partial_);
  open(queries_, "queries.csv", query_header());
  open(sessions_, "sessions.csv", session_header());
}

void RunFolder::open(File& file, const char* name, const std::string& header) {
  file.path = partial_ / name;
  errno = 0;
  file.stream.open(file.path, std::ios::binary);
  file.stream << header << std::flush;
  if (!file.stream) throw Failure(write_fault(file.path));
}

RunFolder::~RunFolder() {
  std::error_code ec;
  if (!partial_.empty()) fs::remove_all(partial_, ec);
}

void RunFolder::write(File& file, const std::string& text) {
  if (!fault_.empty()) return;
  errno = 0;
  if (!(file.stream << text)) fault_ = write_fault(file.path);
}

void RunFolder::add(const QueryRecord& record, const std::string& class_name) {
  write(queries_, line_of(record, class_name));
}

void RunFolder::add(const SessionRecord& record, const std::string& class_name) {
  write(sessions_, line_of(record, class_name));
}

void RunFolder::flush() {
  for (File* const file : {&queries_, &sessions_}) {
    errno = 0;
    if (fault_.empty() && !file->stream.flush()) fault_ = write_fault(file->path);
  }
}

void RunFolder::finish(const RunInfo& info) {
  flush();
  if (!fault_.empty()) throw Failure(fault_);
  write_text(partial_ / "run.json", to_json(info));
  // Both names are exchanged in one step, so that there is no moment without a whole run.
  const int exchanged = ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE);
  std::error_code ec;
  if (exchanged == 0) {
    fs::remove_all(partial_, ec);
  } else {
    if (errno != ENOENT) fs::remove_all(place_, ec);  // a file system that cannot exchange
    check(ec, "replace", place_);
    fs::rename(partial_, place_, ec);
    check(ec, "move to", place_);
  }
  partial_.clear();
}

}  // namespace sluice::bench
