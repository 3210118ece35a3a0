#include "sluice/policy/weight_controller.h"

#include "base/text.h"
#include "config/checks.h"

namespace sluice::config {

void check_tls(const Config& config, Reporter& reporter) {
  const Options& o = config.options;
  if (o.client_tls_sslmode != SslMode::Disable) {
    const std::string mode = "client_tls_sslmode is " + std::string(word_of(o.client_tls_sslmode));
    if (o.client_tls_cert_file.empty()) reporter.error("client_tls_cert_file", "is missing: " + mode);
    if (o.client_tls_key_file.empty()) reporter.error("client_tls_key_file", "is missing: " + mode);
    const bool verifies =
        o.client_tls_sslmode == SslMode::VerifyCa || o.client_tls_sslmode == SslMode::VerifyFull;
    if (verifies && o.client_tls_ca_file.empty()) reporter.error("client_tls_ca_file", "is missing: " + mode);
  } else if (!o.client_tls_cert_file.empty()) {
    reporter.warning("client_tls_cert_file", "is not used: client_tls_sslmode is disable",
                     "client_tls_sslmode: prefer");
  }
  const bool verifies =
      o.server_tls_sslmode == SslMode::VerifyCa || o.server_tls_sslmode == SslMode::VerifyFull;
  if (verifies && o.server_tls_ca_file.empty())
    reporter.error("server_tls_ca_file",
                   "is missing: server_tls_sslmode is " + std::string(word_of(o.server_tls_sslmode)),
                   "name a file, or the word system");
  if (o.server_tls_cert_file.empty() != o.server_tls_key_file.empty())
    reporter.error(o.server_tls_cert_file.empty() ? "server_tls_cert_file" : "server_tls_key_file",
                   "is missing: certificate and key go together");
}

void check_limits(const Config& config, Reporter& reporter) {
  const Options& o = config.options;
  if (reporter.given("max_unauthenticated") && o.max_unauthenticated > o.max_client_conn)
    reporter.warning("max_unauthenticated", "is above max_client_conn, which holds first");
  if (o.health_check_timeout > o.health_check_interval)
    reporter.warning("health_check_timeout",
                     "is longer than health_check_interval: checks come less often than it says");
  if ((o.max_replica_lag.count() > 0 || o.max_replica_lag_bytes > 0) && o.health_check_user.empty())
    reporter.error(o.max_replica_lag.count() > 0 ? "max_replica_lag" : "max_replica_lag_bytes",
                   "lag is only known from a check that logs in", "set health_check_user");
  if (reporter.given("no_replica_wait") && o.no_replica == NoReplica::Refuse)
    reporter.warning("no_replica_wait", "is not used: no_replica is refuse", "no_replica: wait");
  if (o.no_replica == NoReplica::Wait && o.no_replica_wait > o.query_wait_timeout)
    reporter.warning("no_replica_wait", "is longer than query_wait_timeout, which holds first");
  if (!config.options.server_reuse && reporter.given("server_reset_query"))
    reporter.warning("server_reset_query", "is not used: server_reuse is false");
}

void check_measuring(const Config& config, Reporter& reporter) {
  const Options& o = config.options;
  const bool divides = o.policy == PolicyName::Plb || o.policy == PolicyName::LeastLoaded;
  if (o.order_within_pool != ReplicaOrder::LeastLoaded && !divides)
    reporter.warning("order_within_pool", "is not used: policy is " + std::string(word_of(o.policy)));
  if (o.order_within_pool == ReplicaOrder::Nearest) {
    if (o.health_check_user.empty())
      reporter.warning("order_within_pool",
                       "nearest needs round trips to the replicas, which are measured by checks that log in",
                       "set health_check_user");
    if (config.hosts.empty())
      reporter.warning("order_within_pool", "nearest needs the hosts that sessions come from",
                       "list them under hosts");
  } else if (reporter.given("nearest_slack")) {
    reporter.warning("nearest_slack", "is not used: order_within_pool is not nearest",
                     "order_within_pool: nearest");
  }
  if (policy::is_by_size(o.order_within_pool) && !slots_limited(config))
    reporter.warning("order_within_pool",
                     "is of use where replicas work on few things at a time, and nothing limits that here",
                     "set max_active");
  if (o.queue_discipline == QueueDiscipline::ShortestFirst && o.queue_ageing.count() == 0)
    reporter.warning("queue_ageing", "large pieces of work may wait for ever behind smaller ones",
                     "set queue_ageing above 0");
  if (!o.weight_target.empty()) {
    if (!policy::WeightTarget::parse(o.weight_target))
      reporter.error("weight_target", "\"" + without_controls(o.weight_target) + "\" is not a target",
                     "median:0.8, p95:0.5, median:40ms or p95:2s");
    else if (o.policy != PolicyName::Proportional)
      reporter.warning("weight_target", "is not used: policy is " + std::string(word_of(o.policy)),
                       "policy: proportional");
  } else if (reporter.given("weight_limit")) {
    reporter.warning("weight_limit", "is not used: there is no weight_target", "weight_target: median:0.8");
  }
  if (o.profile_path.empty() && (reporter.given("profile_mode") || reporter.given("profile_interval")))
    reporter.warning(reporter.given("profile_mode") ? "profile_mode" : "profile_interval",
                     "is not used: profile_path is not given");
}

}  // namespace sluice::config
