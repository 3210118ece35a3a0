#include <algorithm>
#include <map>
#include <string>

#include "config/checks.h"

namespace sluice::config {
namespace {

bool is_name(const std::string& host) {
  return !host.starts_with('/') && !host.starts_with('@') && !parse_address(host);
}

void check_candidates(const Config& config, Reporter& reporter) {
  const auto& candidates = config.primary_candidates;
  if (candidates.empty()) return;
  if (config.options.health_check_user.empty())
    reporter.error("primary", "which of several servers is the primary is only known from checks that log in",
                   "set health_check_user, or name one server");
  std::map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto [first, is_new] = names.emplace(candidates[i].name, i);
    if (!is_new)
      reporter.error(indexed("primary", i), "\"" + candidates[i].name + "\" is the name of " +
                                                indexed("primary", first->second) + " already");
    for (const Server& replica : config.replicas)
      if (replica.name == candidates[i].name &&
          (replica.host != candidates[i].host || replica.port != candidates[i].port))
        reporter.error(indexed("primary", i),
                       "\"" + candidates[i].name + "\" is the name of a replica elsewhere already");
  }
}

void check_primary(const Server& server, const std::string& path, Reporter& reporter) {
  if (server.discover != Discover::Off)
    reporter.error(path + ".discover", "is for replicas", "list the servers that may be the primary");
  if (server.weight != 1) reporter.error(path + ".weight", "is for replicas: there is one primary");
  if (!server.pool.empty())
    reporter.error(path + ".pool", "the primary is in no pool",
                   "list it under replicas too if sessions may be assigned to it");
}

void check_patroni(const Config& config, Reporter& reporter) {
  const Options& o = config.options;
  bool secure = false, in_the_clear = false;
  for (const std::string& url : o.patroni_urls) {
    secure = secure || url.starts_with("https://");
    in_the_clear = in_the_clear || url.starts_with("http://");
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      reporter.error("patroni_urls", "\"" + url + "\" begins neither with http:// nor with https://",
                     "http://10.0.0.11:8008");
  }
  if (o.patroni_tls_cert_file.empty() != o.patroni_tls_key_file.empty())
    reporter.error(o.patroni_tls_cert_file.empty() ? "patroni_tls_cert_file" : "patroni_tls_key_file",
                   "is missing: certificate and key go together");
  if (o.patroni_user.empty() != o.patroni_password_file.empty())
    reporter.error(o.patroni_user.empty() ? "patroni_user" : "patroni_password_file",
                   "is missing: user and password go together");
  if (o.patroni_user.find(':') != o.patroni_user.npos)
    reporter.error("patroni_user", "has a colon, which HTTP basic authentication cannot carry");
  if (o.patroni_urls.empty()) {
    for (const char* const key : {"patroni_interval", "patroni_timeout", "patroni_port", "patroni_user"})
      if (reporter.given(key)) reporter.warning(key, "is not used: patroni_urls is not given");
    return;
  }
  if (!o.patroni_user.empty() && in_the_clear)
    reporter.warning("patroni_user", "its password goes over http:// in the clear", "https://10.0.0.11:8008");
  if (!o.patroni_user.empty() && secure && o.patroni_tls_ca_file.empty())
    reporter.warning("patroni_user",
                     "its password goes to whoever answers: without patroni_tls_ca_file no certificate is "
                     "verified",
                     "patroni_tls_ca_file: system");
  for (const char* const key : {"patroni_tls_ca_file", "patroni_tls_cert_file"})
    if (reporter.given(key) && !secure)
      reporter.warning(key, "is not used: no address of patroni_urls begins with https://");
  if (config.primary || !config.primary_candidates.empty())
    reporter.error("primary", "is what patroni_urls tells already", "leave one of them out");
  if (o.health_check_user.empty())
    reporter.warning("patroni_urls",
                     "without checks that log in, Patroni's leader is taken for the primary while it is "
                     "being promoted",
                     "set health_check_user");
}

}  // namespace

void check_cluster(const Config& config, Reporter& reporter) {
  check_candidates(config, reporter);
  check_patroni(config, reporter);
  if (config.primary) check_primary(*config.primary, "primary", reporter);
  for (std::size_t i = 0; i < config.primary_candidates.size(); ++i)
    check_primary(config.primary_candidates[i], indexed("primary", i), reporter);
  bool looks_up = false;
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const Server& replica = config.replicas[i];
    if (replica.discover == Discover::Off) continue;
    looks_up = true;
    if (!is_name(replica.host))
      reporter.error(indexed("replicas", i) + ".discover", "\"" + replica.host + "\" is no name to look up");
  }
  for (const char* const key : {"dns_max_ttl", "dns_nxdomain_ttl"})
    if (reporter.given(key) && !looks_up) reporter.warning(key, "is not used: no replica has discover: dns");
  if (reporter.given("replica_lag_resume") && config.options.max_replica_lag.count() == 0 &&
      config.options.max_replica_lag_bytes == 0)
    reporter.warning("replica_lag_resume", "is not used: no limit for lag is given");
}

}  // namespace sluice::config
