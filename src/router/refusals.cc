#include "router/refusals.h"

namespace sluice::router {

protocol::ErrorFields no_replica() {
  return {"FATAL", "57P03", "no replica is available", "",
          "The router finds all replicas down or draining. Try again later."};
}

protocol::ErrorFields no_primary(const config::Config& config) {
  if (!config::has_primary(config))
    return {"FATAL", "57P03", "no primary is configured", "",
            "Add `primary:` to the router's configuration or ask for target replicas."};
  return {"FATAL", "57P03", "there is no primary now", "",
          "Try again later; the operator finds the reason in the router's log."};
}

protocol::ErrorFields waited_too_long() {
  return {"FATAL", "57P03", "query_wait_timeout", "No server connection could be had in that time.",
          "Try again later; the operator finds the reason in the router's log."};
}

protocol::ErrorFields waited_in_queue(const std::string& limit) {
  if (limit.empty()) return waited_too_long();
  return {"FATAL", "53300", "query_wait_timeout",
          "All server connections that could have been used were in use for that long (" + limit + ").",
          "Try again later, close sessions, or raise the limit in the router's configuration."};
}

protocol::ErrorFields too_many_wait(const std::string& limit) {
  return {"FATAL", "53300", "too many clients wait for a server connection (" + limit + ")", "",
          "Try again later, or raise the limit in the router's configuration."};
}

telemetry::RejectReason reason_of_wait_limit(const std::string& limit) {
  return limit.starts_with("budget") ? telemetry::RejectReason::Budget : telemetry::RejectReason::MaxWaiting;
}

protocol::ErrorFields client_queued() {
  return {"NOTICE", "00000", "No server connection available in postgres backend, client being queued", "",
          ""};
}

}  // namespace sluice::router
