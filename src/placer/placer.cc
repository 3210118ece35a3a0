#include "placer/placer.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "http/host_check.h"
#include "placer/snapshot_parts.h"
#include "service/held_signals.h"
#include "service/takeover_channel.h"
#include "telemetry/log_settings.h"
#include "web/asset_page.h"

namespace sluice::placer {
namespace {

constexpr std::chrono::seconds kOverviewKept{1};

std::size_t thread_count(const config::PlacerOptions& options) {
  return options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

// The place of each name in `names`, which grows by those that are new.
std::vector<std::uint32_t> places_of(const std::vector<std::string>& wanted,
                                     std::vector<std::string>& names) {
  std::vector<std::uint32_t> places;
  for (const std::string& name : wanted) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) found = names.insert(names.end(), name);
    places.push_back(static_cast<std::uint32_t>(found - names.begin()));
  }
  return places;
}

}  // namespace

Placer::Placer(std::string config_path, std::shared_ptr<const config::PlacerConfig> config,
               service::Succession::Plan succession)
    : config_path_(std::move(config_path)),
      initial_(std::move(config)),
      reload_signals_(control_),
      end_signals_(control_),
      decide_timer_(control_),
      succession_(control_.get_executor(), std::move(succession), service::kPlacerTakeover,
                  {[this] { return sockets_for_successor(); }, [this] { called_off(); },
                   [this](pid_t successor) { handed_over(successor); }}),
      tasks_(control_.get_executor()) {}

Placer::~Placer() = default;

telemetry::Names Placer::names_with(const config::PlacerConfig& config) {
  std::vector<std::string> hosts, routes;
  for (const config::ComputeHost& host : config.compute_hosts)
    hosts.push_back(host.name);
  for (const config::PlacerRoute& route : config.routes)
    routes.push_back(route.method.empty() ? route.pattern : route.method + " " + route.pattern);
  (void)places_of(hosts, host_names_);
  (void)places_of(routes, route_names_);
  telemetry::Names names;
  names.hosts = host_names_;
  names.routes = route_names_;
  names.version = SLUICE_VERSION;
  return names;
}

SnapshotPtr Placer::make_snapshot(std::shared_ptr<const config::PlacerConfig> config, std::string& problem) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->tls = make_tls(config->options, problem);
  if (config->options.listen_tls_port > 0 && snapshot->tls == nullptr) return nullptr;
  snapshot->table = make_table(*config);
  snapshot->forward = forward_policy(config->options);
  snapshot->request_limits = {static_cast<std::size_t>(config->options.max_header_bytes),
                              config->options.max_header_fields};
  snapshot->response_limits = response_limits(config->options);
  snapshot->hosts = make_hosts(*config, snapshot_.get());
  snapshot->learner = make_learner(*config, snapshot->hosts, snapshot_.get());
  const telemetry::Names names = names_with(*config);
  for (const config::ComputeHost& host : config->compute_hosts)
    snapshot->host_labels.push_back(telemetry::HostLabel(places_of({host.name}, host_names_).front()));
  for (const config::PlacerRoute& route : config->routes) {
    const std::string name = route.method.empty() ? route.pattern : route.method + " " + route.pattern;
    snapshot->route_labels.push_back(telemetry::RouteLabel(places_of({name}, route_names_).front()));
  }
  snapshot->route_labels.push_back(telemetry::RouteLabel::other());
  if (telemetry_ == nullptr) {
    telemetry_ = std::make_unique<telemetry::Registry>(names, telemetry::Component::Placer);
    metrics_ = &telemetry_->add_thread();
  } else {
    telemetry_->set_names(names);
    metrics_->fit(telemetry_->extents());
  }
  snapshot->config = std::move(config);
  return snapshot;
}

bool Placer::open_mirror(const config::PlacerOptions& options, std::string& problem) {
  if (options.profile_url.empty()) return true;
  mirror::Mirror::Settings settings;
  const auto source = mirror::Source::parse(options.profile_url, problem);
  if (!source) {
    problem = "profile_url: " + problem;
    return false;
  }
  settings.from = *source;
  settings.to.path = options.profile_path;
  auto made = std::make_unique<mirror::Mirror>(control_.get_executor(), std::move(settings));
  if (!made->open(problem)) return false;
  mirror_ = std::move(made);
  return true;
}

std::optional<std::string> Placer::open() {
  const config::PlacerOptions& options = initial_->options;
  // Before anybody can see us listen, and send one.
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2})
    reload_signals_.add(signal);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT})
    end_signals_.add(signal);
  if (const auto done =
          log::configure(log::settings_of(options.log_level, options.log_format, options.log_file));
      !done)
    return "cannot open the log: " + done.error().code.message();
  std::string problem;
  snapshot_ = make_snapshot(initial_, problem);
  if (snapshot_ == nullptr) return problem;
  if (!options.access_log.empty()) {
    shared_.access_log = std::make_shared<AccessLog::File>(options.access_log);
    if (const auto done = shared_.access_log->open(); !done)
      return "cannot open the access log " + options.access_log + ": " + done.error().code.message();
  }
  if (auto failure = succession_.find_predecessor()) return failure;
  // A predecessor keeps the copy until it has handed over.
  if (succession_.clients() == nullptr && !open_mirror(options, problem)) return problem;
  if (!options.profile_path.empty()) reader_ = std::make_unique<shm::ProfileReader>(options.profile_path);
  prober_ = std::make_unique<Prober>(
      control_.get_executor(),
      [this](const HostState& host, bool ok, bool changed) { host_checked(host, ok, changed); });
  read_profile();
  look_at_calibration();
  publish();
  Worker::Listening how;
  how.inherited = succession_.clients();
  how.workers = thread_count(options);
  const Worker* first = nullptr;
  for (how.index = 0; how.index < how.workers; ++how.index) {
    auto& worker = workers_.emplace_back(std::make_unique<Worker>(shared_, view_, telemetry_->add_thread()));
    if (!worker->listen(first, how, problem)) return problem;
    if (first == nullptr) first = worker.get();
  }
  if (options.admin_port > 0) {
    http::PageServer::Settings settings;
    settings.address = options.admin_addr;
    settings.port = static_cast<std::uint16_t>(options.admin_port);
    settings.inherited = succession_.admin();
    settings.own_host = [this, address = options.admin_addr](std::string_view host, http::ListensAt at) {
      return http::is_own_host(host, at, address, snapshot_->options().admin_names);
    };
    admin_ = std::make_unique<http::PageServer>(
        control_.get_executor(), std::move(settings),
        [this](http::PageRequest request) { return answer(std::move(request)); },
        [](int status, const http::PageRequest&) { return error_page(status); });
    if (!admin_->start(problem)) return problem;
  }
  telemetry_->add_sampler([this](telemetry::Samples& samples) { sample(samples); });
  return std::nullopt;
}

int Placer::run() {
  // Of a log that nobody reads any more; sockets do not raise it.
  std::signal(SIGPIPE, SIG_IGN);
  prober_->configure(snapshot_);
  if (mirror_) mirror_->start();
  tasks_.spawn("reload signals", handle_reload_signals());
  tasks_.spawn("end signals", handle_end_signals());
  tasks_.spawn("decide", decide());
  tasks_.spawn("begin", begin());
  control_.run();
  for (const auto& worker : workers_)
    worker->join();
  service::hold_back_signals();
  log::info("stopped");
  return exit_code_;
}

AdminFacts Placer::facts() const {
  AdminFacts facts;
  facts.view = view_;
  facts.hosts = prober_->reports();
  facts.hosts.resize(snapshot_->hosts.size());
  facts.policy = policy_;
  if (reader_ != nullptr)
    facts.profile =
        knowledge_.profile_problem.empty() ? "read from " + reader_->path() : knowledge_.profile_problem;
  facts.shutting_down = shutting_down_;
  facts.now = std::chrono::steady_clock::now();
  return facts;
}

// One for all who look.
const http::Page& Placer::overview() {
  const auto now = std::chrono::steady_clock::now();
  if (overview_.body.empty() || now - overview_made_ >= kOverviewKept) {
    overview_ = overview_page(facts(), history_);
    overview_made_ = now;
  }
  return overview_;
}

asio::awaitable<http::Page> Placer::answer(http::PageRequest request) {
  if (request.path == "/" && has_dashboard() && web::wants_html(request.accept))
    co_return dashboard_page("/placer", request.accept_encoding);
  if (request.path == "/") co_return index_page();
  if (request.path == "/placer" || request.path.starts_with("/placer/"))
    co_return dashboard_page(request.path, request.accept_encoding);
  if (request.path == "/v1/overview") co_return overview();
  if (request.path == "/healthz") co_return health_page(facts());
  if (request.path == "/readyz") co_return ready_page(facts());
  if (request.path == "/v1/hosts") co_return hosts_page(facts());
  if (request.path == "/v1/explain") {
    const std::string method = http::query_value(request.query, "method");
    const std::string route = http::query_value(request.query, "route");
    co_return explain_page(facts(), method, route);
  }
  if (request.path != "/metrics") co_return error_page(404);
  http::Page page;
  page.content_type = "text/plain; version=0.0.4; charset=utf-8";
  page.body = telemetry_->exposition();
  co_return page;
}

void Placer::sample(telemetry::Samples& samples) {
  using namespace telemetry;
  const std::vector<HostReport> reports = prober_->reports();
  for (std::size_t i = 0; i < snapshot_->hosts.size() && i < reports.size(); ++i) {
    const HostLabel label = snapshot_->host_labels[i];
    samples.set(metric::placer_host_up, reports[i].up ? 1 : 0, label);
    samples.set(metric::placer_requests_in_flight,
                snapshot_->hosts[i]->in_flight.load(std::memory_order_relaxed), label);
    const auto seconds = [](std::chrono::nanoseconds time) {
      return std::chrono::duration<double>(time).count();
    };
    if (reports[i].path) samples.set(metric::placer_path_seconds, seconds(*reports[i].path), label);
    if (reports[i].connect) samples.set(metric::placer_connect_seconds, seconds(*reports[i].connect), label);
  }
  std::map<std::pair<placement::Policy, placement::Missing>, std::size_t> routes;
  for (std::size_t i = 0; i + 1 < view_->routes.size(); ++i)
    ++routes[{view_->routes[i].effective.policy, view_->routes[i].effective.missing}];
  for (const auto& [key, count] : routes)
    samples.set(metric::placer_routes, static_cast<double>(count), key.first, key.second);
  if (knowledge_.profile)
    samples.set(metric::placer_profile_age_seconds,
                std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                              knowledge_.profile->publication.heartbeat)
                    .count());
  samples.set(metric::placer_upstream_idle, static_cast<double>(shared_.upstream_idle.load()));
  samples.set(metric::log_lines_suppressed, static_cast<double>(log::suppressed_lines()));
  samples.set(metric::threads, static_cast<double>(workers_.size()));
}

}  // namespace sluice::placer
