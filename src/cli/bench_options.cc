#include "cli/bench_options.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "bench/run_folder.h"
#include "pgclient/dsn.h"

namespace sluice::cli {
namespace {

using bench::Failure;

constexpr std::size_t kSqlFileBytesMax = 16 << 20;
constexpr std::size_t kSqlFilesMax = 1000;

std::vector<bench::SourceFile> files_of(const std::string& folder) {
  std::vector<bench::SourceFile> files;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ec)) {
    if (entry.path().extension() != ".sql" || !entry.is_regular_file(ec)) continue;
    if (files.size() == kSqlFilesMax) throw Failure(folder + " holds too many files");
    files.push_back({entry.path().filename().string(), bench::read_text(entry.path(), kSqlFileBytesMax)});
  }
  if (ec) throw Failure("cannot read " + folder + ": " + ec.message());
  return files;
}

std::string known_workloads() {
  std::string names;
  for (const std::string& name : bench::embedded_names())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

void add_workload_options(CLI::App& command, BenchWorkload& asked) {
  command
      .add_option(
          "--dsn,dsn", asked.dsn,
          "Where to connect, as libpq takes it: postgresql://USER:PASSWORD@HOST:PORT/DATABASE or words; "
          "default: $DATABASE_URL")
      ->type_name("DSN");
  command.add_option("--workload", asked.workload, "What is run: " + known_workloads())
      ->check(CLI::IsMember(bench::embedded_names()))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--files", asked.files, "Instead: a folder of SQL files of your own")
      ->type_name("DIR")
      ->excludes("--workload");
  command.add_option("--scale", asked.scale, "Size of the data, or of the work")
      ->type_name("DECIMAL")
      ->capture_default_str();
}

pgclient::ConnectParams server_of(const BenchWorkload& asked) {
  std::string dsn = asked.dsn;
  if (dsn.empty())
    if (const char* const url = std::getenv("DATABASE_URL")) dsn = url;
  if (dsn.empty()) throw Failure("give --dsn, or set DATABASE_URL");
  auto parsed = pgclient::parse_dsn(dsn);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) throw Failure(*problem);
  auto params = std::get<pgclient::ConnectParams>(std::move(parsed));
  if (params.application_name == pgclient::ConnectParams{}.application_name)
    params.application_name = "sluice-bench";
  return params;
}

bench::Workload workload_of(const BenchWorkload& asked) {
  const auto scale = bench::Scale::parse(asked.scale);
  if (!scale) throw Failure("--scale is a decimal such as 0.01, from 0.000001 to 100000");
  const std::string name =
      asked.files.empty() ? asked.workload : std::filesystem::path(asked.files).filename().string();
  auto files = asked.files.empty() ? bench::embedded_sources(asked.workload) : files_of(asked.files);
  auto parsed = bench::parse_workload(name.empty() ? "files" : name, std::move(files), *scale);
  if (const auto* const problem = std::get_if<bench::Problem>(&parsed)) throw Failure(problem->text());
  return std::get<bench::Workload>(std::move(parsed));
}

}  // namespace sluice::cli
