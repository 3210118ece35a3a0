#include "calibrate/run.h"

#include <charconv>
#include <fstream>
#include <ostream>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "calibrate/failure.h"
#include "calibrate/http_client.h"
#include "calibrate/procedure.h"
#include "calibrate/query_count.h"
#include "calibrate/sql.h"
#include "calibration/calibration_file.h"
#include "shm/profile_reader.h"
#include "terminal/progress.h"

namespace sluice::calibrate {
namespace {

constexpr std::size_t kCountedRequests = 50;

// Runs a coroutine to its end on an event loop of its own.
template <class T>
T run_to_end(asio::io_context& context, asio::awaitable<T> task) {
  std::optional<T> result;
  std::exception_ptr fault;
  asio::co_spawn(context, std::move(task), [&](std::exception_ptr e, T value) {
    fault = std::move(e);
    result = std::move(value);
  });
  context.run();
  if (fault) std::rethrow_exception(fault);
  return std::move(*result);
}

OnStep steps_of(terminal::Progress& progress) {
  return [&progress](std::size_t done, std::size_t of) {
    progress.step(static_cast<double>(done), static_cast<double>(of));
  };
}

calibration::WallTime wall_now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::optional<profile::Profile> read_profile(const std::string& path, std::ostream& out) {
  if (path.empty()) return std::nullopt;
  shm::ProfileReader reader(path);
  auto profile = reader.read();
  if (profile) return std::move(*profile);
  out << "Without the router's profile: " << shm::profile_problem(path, profile.error()) << "\n";
  return std::nullopt;
}

HttpClient admin_client(const std::string& where, std::chrono::milliseconds timeout) {
  const std::size_t colon = where.rfind(':');
  unsigned port = 0;
  const char* const end = where.data() + where.size();
  if (colon == where.npos || std::from_chars(where.data() + colon + 1, end, port).ptr != end || port == 0 ||
      port > 65535)
    throw Failure("--count-queries " + where + " is not HOST:PORT of the router's HTTP admin");
  return {"router", where.substr(0, colon), static_cast<std::uint16_t>(port), timeout};
}

// Counts for the routes whose N_serial nobody has said, on the first host.
asio::awaitable<bool> count_missing(Plan* plan, std::string admin_address) {
  HttpClient admin = admin_client(admin_address, plan->timeout);
  const Target& target = plan->targets.front();
  HttpClient application(target.name, target.address, target.port, plan->timeout);
  for (RouteRequest& route : plan->routes) {
    if (route.n_serial) continue;
    route.n_serial = co_await count_n_serial(application, route.path, admin, kCountedRequests);
    route.n_serial_source = calibration::NSerialSource::Counted;
  }
  co_return true;
}

void write_raw(const std::string& path, const std::vector<Series>& all) {
  std::ofstream file(path);
  file << "host,what,ms\n";
  for (const Series& series : all)
    for (const double ms : series.ms)
      file << series.host << ',' << series.what << ',' << ms << '\n';
  file.flush();
  if (!file) throw Failure(path + " cannot be written");
}

calibration::Calibration load_part(const std::string& path) {
  config::Problems problems;
  auto part = calibration::load(path, problems);
  if (part) return std::move(*part);
  std::string all;
  for (const config::Problem& problem : problems)
    all += (all.empty() ? "" : "\n") + to_string(problem);
  throw Failure(all);
}

// Refuses what is too noisy, or says so and goes on.
void judge(const calibration::Calibration& result, bool force, std::ostream& out) {
  const std::vector<std::string> noisy = too_noisy(result);
  if (noisy.empty()) return;
  std::string all = "too noisy to place requests by:\n";
  for (const std::string& sentence : noisy)
    all += "  " + sentence + "\n";
  if (!force)
    throw Failure(
        all + "Nothing was written. Quieten the machines, take more samples with --samples, or say --force.");
  out << "Written all the same, as --force says; " << all;
}

void save(const calibration::Calibration& result, const std::string& path, std::ostream& out) {
  if (path.empty()) {
    out << calibration::to_yaml(result);
    return;
  }
  if (const auto saved = calibration::save(result, path); !saved)
    throw Failure(path + " cannot be written: " + saved.error().code.message());
  out << "Written: " << path << "\n";
}

}  // namespace

void run(const std::shared_ptr<const config::PlacerConfig>& config, const Options& options,
         std::ostream& out) {
  const auto profile = read_profile(config->options.profile_path, out);
  Plan plan = make_plan(*config, options, profile ? &*profile : nullptr, std::chrono::steady_clock::now());
  if (options.dry_run) {
    out << describe(plan);
    return;
  }
  std::vector<calibration::Calibration> parts;
  for (const std::string& path : options.merge)
    parts.push_back(load_part(path));
  if (!options.count_queries.empty()) {
    asio::io_context context(1);
    run_to_end(context, count_missing(&plan, options.count_queries));
  }
  std::vector<Series> all;
  {
    terminal::Progress progress;
    asio::io_context context(1);
    const OnStep on_step = steps_of(progress);
    all = run_to_end(context, measure(plan, on_step));
  }
  if (!options.raw.empty()) write_raw(options.raw, all);
  calibration::Calibration result = evaluate(plan, all, wall_now());
  for (const calibration::Calibration& part : parts)
    calibration::merge(result, part);
  out << report(result);
  judge(result, options.force, out);
  save(result, options.output.empty() ? config->options.calibration_file : options.output, out);
}

void run_sql_only(const Options& options, const std::string& database_url, std::ostream& out) {
  if (options.hosts.size() != 1) throw Failure("--sql-only needs --host NAME: which compute host this is");
  if (options.output.empty())
    throw Failure("--sql-only needs --output FILE, to be merged where the routes are measured");
  pgclient::ConnectParams params = parse_database_url(database_url);
  if (options.dry_run) {
    out << options.warm_ups << " + " << options.samples << " x SELECT 1 on " << params.host << ":"
        << params.port << "\n";
    return;
  }
  std::vector<Series> all;
  {
    terminal::Progress progress;
    asio::io_context context(1);
    const OnStep on_step = steps_of(progress);
    const Plan plan;
    all.push_back(
        run_to_end(context, measure_select_1(std::move(params), options.hosts.front(), options.warm_ups,
                                             options.samples, plan.timeout, on_step)));
  }
  if (!options.raw.empty()) write_raw(options.raw, all);
  const calibration::Calibration part = evaluate({}, all, wall_now());
  out << report(part);
  judge(part, options.force, out);
  save(part, options.output, out);
}

}  // namespace sluice::calibrate
