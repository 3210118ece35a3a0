#include "bench/run_folder.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

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
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Failure("cannot write " + path.string());
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
  queries_.open(partial_ / "queries.csv", std::ios::binary);
  sessions_.open(partial_ / "sessions.csv", std::ios::binary);
  queries_ << query_header();
  sessions_ << session_header();
}

RunFolder::~RunFolder() {
  std::error_code ec;
  if (!partial_.empty()) fs::remove_all(partial_, ec);
}

void RunFolder::add(const QueryRecord& record, const std::string& class_name) {
  queries_ << line_of(record, class_name);
}

void RunFolder::add(const SessionRecord& record, const std::string& class_name) {
  sessions_ << line_of(record, class_name);
}

void RunFolder::finish(const RunInfo& info) {
  queries_ << std::flush;
  sessions_ << std::flush;
  if (!queries_ || !sessions_) throw Failure("cannot write into " + partial_.string());
  write_text(partial_ / "run.json", to_json(info));
  std::error_code ec;
  fs::remove_all(place_, ec);
  check(ec, "replace", place_);
  fs::rename(partial_, place_, ec);
  check(ec, "move to", place_);
  partial_.clear();
}

}  // namespace sluice::bench
