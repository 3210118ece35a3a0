// Where a transaction goes: to the primary, or to a replica; and which replicas have what its session wrote.
#include <limits>

#include "router/classify.h"
#include "router/refusals.h"
#include "router/transaction_session.h"
#include "router/worker.h"

namespace sluice::router {
namespace {

namespace metric = telemetry::metric;

constexpr std::uint64_t kUnknownPosition = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// Looked up when they have changed.
const TransactionSession::SettingsSay& TransactionSession::settings_say() {
  const pooling::SettingSetPtr& wanted = settings_.wanted();
  if (say_.settings == wanted) return say_;
  say_ = {wanted, home_, false};
  if (const std::string* const set = pooling::value_of(*wanted, "sluice.target"))
    if (const auto primary = means_primary(*set))
      say_.where = *primary ? Servers::Primary : Servers::Replicas;
  if (const std::string* const set = pooling::value_of(*wanted, "default_transaction_read_only"))
    say_.read_only = *set == "on";
  return say_;
}

Servers TransactionSession::route(ByteView first) {
  const pooling::Target said = translator_.target_of(first);
  const SettingsSay& settings = settings_say();
  Servers where = settings.where;
  if (said == pooling::Target::Primary) where = Servers::Primary;
  if (said == pooling::Target::Replica) where = Servers::Replicas;
  const bool read_only =
      said == pooling::Target::ReadOnly || (said == pooling::Target::Unsaid && settings.read_only);
  if (read_only && where == Servers::Primary && routing_.read_only == config::ReadOnly::Replicas) {
    if (worker_.shared().admission.any_live())
      where = Servers::Replicas;
    else
      worker_.metrics().count(metric::reads_sent_to_primary_total, database_);
  }
  if (where == Servers::Replicas && routing_.read_your_writes == config::ReadYourWrites::On &&
      written_to_ > 0)
    where = among_fresh_replicas();
  writes_ = where == Servers::Primary && !read_only;
  if (writes_ && routing_.read_your_writes == config::ReadYourWrites::On) written_to_ = kUnknownPosition;
  return where;
}

// Those that lack what the session wrote are no candidates; without any other, the primary.
Servers TransactionSession::among_fresh_replicas() {
  std::vector<policy::ReplicaId> all;
  for (const auto& [server, endpoint] : worker_.snapshot()->servers)
    if (server != kPrimary) all.emplace_back(server.value());
  failed_ = worker_.shared().replay_positions.behind(written_to_, all);
  last_error_ = no_replica();
  fresh_only_ = failed_.size() < all.size();
  if (fresh_only_) return Servers::Replicas;
  failed_.clear();
  worker_.metrics().count(metric::reads_sent_to_primary_total, database_);
  return Servers::Primary;
}

bool TransactionSession::is_behind(policy::ReplicaId replica) const {
  return !worker_.shared().replay_positions.behind(written_to_, {replica}).empty();
}

// No replica that has what the session wrote can be had.
PooledServer* TransactionSession::ask_primary(Clock::time_point now) {
  fresh_only_ = false;
  servers_ = Servers::Primary;
  failed_.clear();
  place_.reset();
  writes_ = true;  // as far as is known
  written_to_ = kUnknownPosition;
  worker_.metrics().count(metric::reads_sent_to_primary_total, database_);
  return ask(now);
}

bool TransactionSession::wants_position() const {
  return writes_ && routing_.read_your_writes == config::ReadYourWrites::On;
}

void TransactionSession::position_known(std::uint64_t position) {
  written_to_ = position;
}

}  // namespace sluice::router
