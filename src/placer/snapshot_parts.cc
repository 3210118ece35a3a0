#include "placer/snapshot_parts.h"

#include <algorithm>

namespace sluice::placer {
namespace {

net::TlsVersions versions(config::TlsProtocols protocols) {
  net::TlsVersions versions;
  if (protocols == config::TlsProtocols::Tls12) versions.maximum = net::TlsVersion::Tls12;
  if (protocols == config::TlsProtocols::Tls13) versions.minimum = net::TlsVersion::Tls13;
  return versions;
}

double fraction_of(Ratio ratio) {
  return static_cast<double>(ratio.floor_of(Ratio::kUnit)) / static_cast<double>(Ratio::kUnit);
}

placement::AdaptiveSettings adaptive_settings(const config::PlacerOptions& options) {
  placement::AdaptiveSettings settings;
  settings.exploration = fraction_of(options.exploration);
  settings.hysteresis = fraction_of(options.hysteresis);
  settings.forget_after = placement::Millis(options.forget_after);
  return settings;
}

// Two configurations under which what was learnt means the same.
bool same_learning(const config::PlacerConfig& a, const config::PlacerConfig& b) {
  const auto text = [](const config::PlacerConfig& config) {
    std::string out;
    for (const config::PlacerRoute& route : config.routes)
      out += config::print_record(route) + "\n";
    const config::PlacerOptions& o = config.options;
    return out + o.exploration.to_string() + " " + o.hysteresis.to_string() + " " +
           std::to_string(o.forget_after.count());
  };
  return text(a) == text(b);
}

}  // namespace

std::shared_ptr<const net::TlsContext> make_tls(const config::PlacerOptions& options, std::string& problem) {
  if (options.listen_tls_port == 0) return nullptr;
  net::TlsServerSettings settings;
  settings.certificate_file = options.tls_cert_file;
  settings.key_file = options.tls_key_file;
  settings.versions = versions(options.tls_protocols);
  settings.ciphers = options.tls_ciphers;
  auto made = net::TlsContext::server(settings, problem);
  return made ? *std::move(made) : nullptr;
}

RouteTable make_table(const config::PlacerConfig& config) {
  std::vector<RouteTable::Entry> entries;
  for (const config::PlacerRoute& route : config.routes)
    entries.push_back({route.pattern, route.method});
  return RouteTable(entries);
}

ForwardPolicy forward_policy(const config::PlacerOptions& options) {
  return {options.forwarded, options.via, options.host_header, options.upgrades};
}

http::HeadLimits response_limits(const config::PlacerOptions& options) {
  constexpr std::size_t kFieldsMax = 1000;
  return {static_cast<std::size_t>(options.buffer_size / 4 * 3), kFieldsMax};
}

std::vector<HostPtr> make_hosts(const config::PlacerConfig& config, const Snapshot* before) {
  std::vector<HostPtr> hosts;
  for (const config::ComputeHost& entry : config.compute_hosts) {
    const net::ConnectTarget target{entry.address, static_cast<std::uint16_t>(entry.port)};
    HostPtr host;
    if (before != nullptr) {
      const auto known = std::find_if(before->hosts.begin(), before->hosts.end(), [&](const HostPtr& h) {
        return h->name == entry.name && h->target == target;
      });
      if (known != before->hosts.end()) host = *known;
    }
    if (host == nullptr) {
      host = std::make_shared<HostState>(entry.name, target);
      // One that a reload brings is taken for well until its first check, a moment later: better than to
      // refuse requests where all of them are new.
      host->up = before != nullptr;
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

std::shared_ptr<Learner> make_learner(const config::PlacerConfig& config, const std::vector<HostPtr>& hosts,
                                      const Snapshot* before) {
  if (config.options.policy != placement::Policy::Adaptive) return nullptr;
  if (before != nullptr && before->learner != nullptr && before->hosts == hosts &&
      same_learning(*before->config, config))
    return before->learner;
  return std::make_shared<Learner>(config.routes.size() + 1, hosts.size(), adaptive_settings(config.options));
}

}  // namespace sluice::placer
