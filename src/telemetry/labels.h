#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/placement/policy.h"
#include "sluice/policy/decision.h"
#include "sluice/policy/ids.h"

// The label types of metrics. A label's value is an enumerator or an index into a bounded list of names,
// those of the configuration but for routes, so the number of series is bounded.
namespace sluice::telemetry {

// Where the names of a label's values come from.
enum class Dimension : std::uint8_t { Fixed, Class, Pool, Server, Database, Host, Route, Budget, Version };

// A PostgreSQL server: the primary, or a replica by the id that the policy gave it.
class ServerLabel {
 public:
  static constexpr ServerLabel primary() noexcept { return ServerLabel(); }
  constexpr ServerLabel(policy::ReplicaId replica) noexcept : index_(replica.value() + 1) {}
  constexpr std::size_t index() const noexcept { return index_; }

 private:
  constexpr ServerLabel() noexcept = default;
  std::uint32_t index_ = 0;
};

// The pool that a session's replica is in: Mixed, that of a class, or "primary" for the primary, which is in
// no pool.
class PoolLabel {
 public:
  static constexpr PoolLabel mixed() noexcept { return PoolLabel(0U); }
  static constexpr PoolLabel primary() noexcept { return PoolLabel(1U); }
  constexpr PoolLabel(policy::PoolId pool) noexcept
      : index_(pool.is_mixed() ? 0U : pool.owner().value() + 2U) {}
  constexpr std::size_t index() const noexcept { return index_; }

 private:
  constexpr explicit PoolLabel(std::uint32_t index) noexcept : index_(index) {}
  std::uint32_t index_;
};

using DatabaseLabel = StrongId<struct DatabaseLabelTag, std::uint32_t>;  // index into Names::databases
using BudgetLabel = StrongId<struct BudgetLabelTag, std::uint32_t>;      // index into Names::budgets
using HostLabel = StrongId<struct HostLabelTag, std::uint32_t>;          // index into Names::hosts
// A route of an application ("/feed", "articles#show"), or `other` for what has no label of its own. Names of
// routes do come from clients: whoever gives them out bounds their number (Names::routes) and their text.
class RouteLabel {
 public:
  static constexpr RouteLabel other() noexcept { return RouteLabel(); }
  constexpr explicit RouteLabel(std::uint32_t slot) noexcept : index_(slot + 1) {}  // of Names::routes
  constexpr std::size_t index() const noexcept { return index_; }
  friend constexpr bool operator==(RouteLabel, RouteLabel) = default;

 private:
  constexpr RouteLabel() noexcept = default;
  std::uint32_t index_ = 0;
};
struct VersionLabel {};

// kName is the label's name; index() the value's place among its names; kCount (Fixed only) how many there
// are and value() their names.
template <class T>
struct LabelTraits;

#define SLUICE_ENUMERATOR(enumerator, name) enumerator,
#define SLUICE_ENUM_NAME(enumerator, name) std::string_view(name),
#define SLUICE_LABEL_ENUM(Type, label, LIST)                                             \
  enum class Type : std::uint8_t { LIST(SLUICE_ENUMERATOR) };                            \
  template <>                                                                            \
  struct LabelTraits<Type> {                                                             \
    static constexpr Dimension kDimension = Dimension::Fixed;                            \
    static constexpr std::string_view kName = label;                                     \
    static constexpr std::array kValues = {LIST(SLUICE_ENUM_NAME)};                      \
    static constexpr std::size_t kCount = kValues.size();                                \
    static std::size_t index(Type v) noexcept { return static_cast<std::size_t>(v); }    \
    static std::string_view value(std::size_t index) noexcept { return kValues[index]; } \
  };                                                                                     \
  inline std::string_view label_value(Type v) noexcept {                                 \
    return LabelTraits<Type>::value(LabelTraits<Type>::index(v));                        \
  }

// clang-format breaks such lists in another way each time.
// clang-format off

// Why a session that had been admitted ended.
#define SLUICE_CLOSE_REASONS(V) \
  V(ClientTerminate, "client_terminate") V(ClientDisconnect, "client_disconnect") \
  V(ServerFatal, "server_fatal") V(ServerDisconnect, "server_disconnect") \
  V(ClientIdleTimeout, "client_idle_timeout") V(IdleTransactionTimeout, "idle_transaction_timeout") \
  V(QueryTimeout, "query_timeout") V(TransactionTimeout, "transaction_timeout") \
  V(WriteStallTimeout, "write_stall_timeout") V(UnreadNotifications, "unread_notifications") V(Lifetime, "lifetime") \
  V(ReplicaDown, "replica_down") V(PrimaryMoved, "primary_moved") V(Killed, "killed") \
  V(Shutdown, "shutdown") V(ProtocolViolation, "protocol_violation") \
  V(Internal, "internal")
SLUICE_LABEL_ENUM(CloseReason, "reason", SLUICE_CLOSE_REASONS)

// Why a client got no session.
#define SLUICE_REJECT_REASONS(V) \
  V(MaxClientConn, "max_client_conn") V(MaxUserConnections, "max_user_client_connections") \
  V(MaxDatabaseConnections, "max_db_client_connections") V(MaxHostConnections, "max_host_client_connections") \
  V(MaxClassSessions, "max_class_sessions") V(MaxUnauthenticated, "max_unauthenticated") \
  V(LoginTimeout, "client_login_timeout") V(QueryWaitTimeout, "query_wait_timeout") \
  V(MaxWaiting, "max_waiting") V(Budget, "budget") V(NoReplica, "no_replica") V(ServerConnect, "server_connect") \
  V(ServerLogin, "server_login") V(Authentication, "authentication") \
  V(HbaReject, "hba_reject") V(TlsRequired, "tls_required") \
  V(TlsFailed, "tls_failed") V(UnknownDatabase, "unknown_database") \
  V(ProtocolViolation, "protocol_violation") V(ClientDisconnect, "client_disconnect") \
  V(DatabaseDisabled, "database_disabled") V(Shutdown, "shutdown") V(Internal, "internal")
SLUICE_LABEL_ENUM(RejectReason, "reason", SLUICE_REJECT_REASONS)

// Why a command over HTTP was not carried out.
#define SLUICE_COMMAND_REFUSALS(V) \
  V(NoTokenConfigured, "no_token_configured") V(ForeignPage, "foreign_page") V(Token, "token") V(Host, "host")
SLUICE_LABEL_ENUM(CommandRefusal, "reason", SLUICE_COMMAND_REFUSALS)

// What became of one that was beyond its budget and had to wait.
#define SLUICE_BUDGET_VERDICTS(V) \
  V(Refused, "refused") V(WouldBeRefused, "would_be_refused")
SLUICE_LABEL_ENUM(BudgetVerdict, "verdict", SLUICE_BUDGET_VERDICTS)

// By what a replica was chosen where each takes an interval of sizes.
#define SLUICE_CHOSEN_BY(V) \
  V(Size, "size") V(Load, "load")
SLUICE_LABEL_ENUM(ChosenBy, "by", SLUICE_CHOSEN_BY)

#define SLUICE_LOGIN_METHODS(V) \
  V(Trust, "trust") V(Cert, "cert") V(Md5, "md5") V(ScramSha256, "scram-sha-256") \
  V(ScramSha256Plus, "scram-sha-256-plus") V(Passthrough, "passthrough") V(Reject, "reject")
SLUICE_LABEL_ENUM(LoginMethod, "method", SLUICE_LOGIN_METHODS)

// Unknown users and wrong passwords are one value: a scrape must not tell them apart either.
#define SLUICE_LOGIN_RESULTS(V) \
  V(Ok, "ok") V(Refused, "refused") V(Timeout, "timeout") V(Aborted, "aborted") V(Failed, "failed")
SLUICE_LABEL_ENUM(LoginResult, "result", SLUICE_LOGIN_RESULTS)

#define SLUICE_CONNECT_FAILURES(V) \
  V(Refused, "refused") V(Timeout, "timeout") V(NameLookup, "name_lookup") V(Tls, "tls") \
  V(Login, "login") V(Lost, "lost") V(Other, "other")
SLUICE_LABEL_ENUM(ConnectFailure, "reason", SLUICE_CONNECT_FAILURES)

#define SLUICE_CANCEL_RESULTS(V) \
  V(Forwarded, "forwarded") V(UnknownKey, "unknown_key") V(NothingRunning, "nothing_running") \
  V(RateLimited, "rate_limited") V(Failed, "failed")
SLUICE_LABEL_ENUM(CancelResult, "result", SLUICE_CANCEL_RESULTS)

#define SLUICE_RESET_RESULTS(V) \
  V(Clean, "clean") V(Failed, "failed") V(Timeout, "timeout")
SLUICE_LABEL_ENUM(ResetResult, "result", SLUICE_RESET_RESULTS)

// Why a session in transaction mode stays on its server: pooling::PinReason, in its order.
#define SLUICE_PIN_REASONS(V) \
  V(TemporaryTable, "temporary_table") V(AdvisoryLock, "advisory_lock") V(HoldCursor, "hold_cursor") \
  V(Prepare, "prepare") V(Load, "load") V(Set, "set") V(Listen, "listen") \
  V(LargeStatement, "large_statement") V(ManyStatements, "many_statements") V(LargeQuery, "large_query")
SLUICE_LABEL_ENUM(PinReason, "reason", SLUICE_PIN_REASONS)

#define SLUICE_LOOKUP_RESULTS(V) \
  V(Hit, "hit") V(NegativeHit, "negative_hit") V(Found, "found") \
  V(NotFound, "not_found") V(Failed, "failed")
SLUICE_LABEL_ENUM(LookupResult, "result", SLUICE_LOOKUP_RESULTS)

#define SLUICE_OK_OR_FAILED(V) \
  V(Ok, "ok") V(Failed, "failed")
SLUICE_LABEL_ENUM(OkOrFailed, "result", SLUICE_OK_OR_FAILED)

// Who tells where the servers are.
#define SLUICE_CLUSTER_SOURCES(V) \
  V(Patroni, "patroni") V(Dns, "dns")
SLUICE_LABEL_ENUM(ClusterSource, "source", SLUICE_CLUSTER_SOURCES)

#define SLUICE_PROBE_STATISTICS(V) \
  V(Last, "last") V(Median, "median") V(Minimum, "minimum") V(Ewma, "ewma")
SLUICE_LABEL_ENUM(ProbeStatistic, "statistic", SLUICE_PROBE_STATISTICS)

#define SLUICE_SERIAL_STATISTICS(V) \
  V(Mean, "mean") V(Median, "median") V(P90, "p90")
SLUICE_LABEL_ENUM(SerialStatistic, "statistic", SLUICE_SERIAL_STATISTICS)

// Of a host's client leg.
#define SLUICE_LEG_STATISTICS(V) \
  V(Estimate, "estimate") V(Minimum, "minimum") V(Smoothed, "smoothed") V(Deviation, "deviation")
SLUICE_LABEL_ENUM(LegStatistic, "statistic", SLUICE_LEG_STATISTICS)

// Of the placer: status codes, and why it did not pass a request on.
#define SLUICE_STATUS_CLASSES(V) \
  V(S1xx, "1xx") V(S2xx, "2xx") V(S3xx, "3xx") V(S4xx, "4xx") V(S5xx, "5xx") V(None, "none")
SLUICE_LABEL_ENUM(StatusClass, "status", SLUICE_STATUS_CLASSES)

#define SLUICE_PLACER_REFUSALS(V) \
  V(Malformed, "malformed") V(TooLarge, "too_large") V(HeaderTimeout, "header_timeout") \
  V(BodyTimeout, "body_timeout") V(MaxConnections, "max_connections") V(TlsFailed, "tls_failed") \
  V(NoHost, "no_host") V(HostFailed, "host_failed") V(HostTimeout, "host_timeout") \
  V(WriteStall, "write_stall") V(ClientLeft, "client_left") V(Shutdown, "shutdown")
SLUICE_LABEL_ENUM(PlacerRefusal, "reason", SLUICE_PLACER_REFUSALS)

#define SLUICE_HOST_FAILURES(V) \
  V(Connect, "connect") V(ConnectTimeout, "connect_timeout") V(NoAnswer, "no_answer") \
  V(HeaderTimeout, "header_timeout") V(BodyTimeout, "body_timeout") V(Malformed, "malformed") \
  V(Truncated, "truncated") V(WriteStall, "write_stall") V(Status5xx, "status_5xx")
SLUICE_LABEL_ENUM(HostFailure, "reason", SLUICE_HOST_FAILURES)

// SQLSTATE classes of PostgreSQL ("PostgreSQL Error Codes"); any other is Other.
#define SLUICE_SQLSTATE_CLASSES(V) \
  V(C00, "00") V(C01, "01") V(C02, "02") V(C03, "03") V(C08, "08") V(C09, "09") V(C0A, "0A") V(C0B, "0B") \
  V(C0F, "0F") V(C0L, "0L") V(C0P, "0P") V(C0Z, "0Z") V(C20, "20") V(C21, "21") V(C22, "22") V(C23, "23") \
  V(C24, "24") V(C25, "25") V(C26, "26") V(C27, "27") V(C28, "28") V(C2B, "2B") V(C2D, "2D") V(C2F, "2F") \
  V(C34, "34") V(C38, "38") V(C39, "39") V(C3B, "3B") V(C3D, "3D") V(C3F, "3F") V(C40, "40") V(C42, "42") \
  V(C44, "44") V(C53, "53") V(C54, "54") V(C55, "55") V(C57, "57") V(C58, "58") V(C72, "72") V(CF0, "F0") \
  V(CHV, "HV") V(CP0, "P0") V(CXX, "XX") V(Other, "other")
SLUICE_LABEL_ENUM(SqlstateClass, "sqlstate_class", SLUICE_SQLSTATE_CLASSES)

// clang-format on

// By the first two characters of what a server sent; anything unknown or too short is Other.
SqlstateClass sqlstate_class(std::string_view sqlstate) noexcept;

template <>
struct LabelTraits<policy::Outcome> {
  static constexpr Dimension kDimension = Dimension::Fixed;
  static constexpr std::string_view kName = "outcome";
  static constexpr std::size_t kCount = policy::kOutcomes.size();
  static std::size_t index(policy::Outcome v) noexcept { return static_cast<std::size_t>(v); }
  static std::string_view value(std::size_t index) noexcept {
    return policy::outcome_name(policy::kOutcomes[index]);
  }
};
template <>
struct LabelTraits<placement::Policy> {
  static constexpr Dimension kDimension = Dimension::Fixed;
  static constexpr std::string_view kName = "policy";
  static constexpr std::size_t kCount = placement::kPolicies.size();
  static std::size_t index(placement::Policy v) noexcept { return static_cast<std::size_t>(v); }
  static std::string_view value(std::size_t index) noexcept {
    return placement::policy_name(placement::kPolicies[index]);
  }
};
template <>
struct LabelTraits<placement::Missing> {
  static constexpr Dimension kDimension = Dimension::Fixed;
  static constexpr std::string_view kName = "missing";
  static constexpr std::size_t kCount = placement::kMissing.size();
  static std::size_t index(placement::Missing v) noexcept { return static_cast<std::size_t>(v); }
  static std::string_view value(std::size_t index) noexcept {
    return placement::missing_name(placement::kMissing[index]);
  }
};
template <>
struct LabelTraits<policy::ClassId> {
  static constexpr Dimension kDimension = Dimension::Class;
  static constexpr std::string_view kName = "class";
  static std::size_t index(policy::ClassId v) noexcept { return v.value(); }
};
template <>
struct LabelTraits<PoolLabel> {
  static constexpr Dimension kDimension = Dimension::Pool;
  static constexpr std::string_view kName = "pool";
  static std::size_t index(PoolLabel v) noexcept { return v.index(); }
};
template <>
struct LabelTraits<ServerLabel> {
  static constexpr Dimension kDimension = Dimension::Server;
  static constexpr std::string_view kName = "replica";
  static std::size_t index(ServerLabel v) noexcept { return v.index(); }
};
template <>
struct LabelTraits<DatabaseLabel> {
  static constexpr Dimension kDimension = Dimension::Database;
  static constexpr std::string_view kName = "database";
  static std::size_t index(DatabaseLabel v) noexcept { return v.value(); }
};
template <>
struct LabelTraits<HostLabel> {
  static constexpr Dimension kDimension = Dimension::Host;
  static constexpr std::string_view kName = "host";
  static std::size_t index(HostLabel v) noexcept { return v.value(); }
};
template <>
struct LabelTraits<RouteLabel> {
  static constexpr Dimension kDimension = Dimension::Route;
  static constexpr std::string_view kName = "route";
  static std::size_t index(RouteLabel v) noexcept { return v.index(); }
};
template <>
struct LabelTraits<BudgetLabel> {
  static constexpr Dimension kDimension = Dimension::Budget;
  static constexpr std::string_view kName = "budget";
  static std::size_t index(BudgetLabel v) noexcept { return v.value(); }
};
template <>
struct LabelTraits<VersionLabel> {
  static constexpr Dimension kDimension = Dimension::Version;
  static constexpr std::string_view kName = "version";
  static std::size_t index(VersionLabel) noexcept { return 0; }
};

}  // namespace sluice::telemetry
