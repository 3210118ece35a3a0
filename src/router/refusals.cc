#include "router/refusals.h"

namespace sluice::router {

protocol::ErrorFields no_replica() {
  return {"FATAL", "57P03", "no replica is available", "",
          "The router finds all replicas down or draining. Try again later."};
}

protocol::ErrorFields waited_too_long() {
  return {"FATAL", "57P03", "query_wait_timeout", "No server connection could be had in that time.",
          "Try again later; the operator finds the reason in the router's log."};
}

}  // namespace sluice::router
