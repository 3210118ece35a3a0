#include "router/refused_logins.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "protocol/crypto.h"
#include "router/server_request.h"

namespace sluice::router {
namespace {

bool is_of_the_login(const ServerFailure& failure) {
  return failure.kind == ServerFailure::Kind::Refused && failure.error.sqlstate.starts_with("28");
}

protocol::ScramKey digest_of(const protocol::ServerCredentials& credentials) {
  Bytes proofs;
  if (credentials.client_keys) {
    append(proofs, credentials.client_keys->client_key);
    append(proofs, credentials.client_keys->server_key);
  }
  append(proofs,
         as_bytes('\0' + credentials.md5_hash.value_or("") + '\0' + credentials.password.value_or("")));
  return protocol::sha256(proofs);
}

}  // namespace

std::optional<ServerFailure> RefusedLogins::standing(const std::string& login, Clock::time_point now) const {
  if (!any_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(login);
  if (found == entries_.end() || now >= found->second.until) return std::nullopt;
  ServerFailure failure = found->second.failure;
  const auto left = std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
  failure.reason += "; it is asked again in " + std::to_string(left.count()) + " s";
  return failure;
}

void RefusedLogins::ended(const std::string& login, const ServerFailure* failure, Clock::time_point now) {
  const bool refused = failure != nullptr && is_of_the_login(*failure);
  if (!refused && !any_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(login);
  if (!refused) {
    // Silence says nothing of the login.
    if (failure == nullptr && found != entries_.end()) entries_.erase(found);
  } else if (found != entries_.end()) {
    Entry& entry = found->second;
    // Several that were under way together are one refusal; one that comes long after is another matter.
    if (now >= entry.until + kPauseMax)
      entry.pause = kPauseMin;
    else if (now >= entry.until)
      entry.pause = std::min(2 * entry.pause, kPauseMax);
    entry.until = now + entry.pause;
    entry.failure = *failure;
  } else {
    make_room(now);
    if (entries_.size() < kEntriesMax) entries_.emplace(login, Entry{*failure, kPauseMin, now + kPauseMin});
  }
  any_.store(!entries_.empty(), std::memory_order_relaxed);
}

// Whoever has not come back long after its pause is forgotten.
void RefusedLogins::make_room(Clock::time_point now) {
  if (entries_.size() < kEntriesMax) return;
  std::erase_if(entries_, [&](const auto& entry) { return now >= entry.second.until + kPauseMax; });
}

void RefusedLogins::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  any_.store(false, std::memory_order_relaxed);
}

std::string login_key(const Snapshot& snapshot, const ServerRequest& request) {
  std::string key = way_key(snapshot, request);
  for (const auto& [name, value] : request.parameters)
    if (name == "user" || name == "database" || name == "replication") key += '\0' + name + '\0' + value;
  const protocol::ScramKey digest = digest_of(request.credentials);
  return key + '\0' + std::string(as_text(digest));
}

asio::awaitable<std::variant<ServerConnection, ServerFailure>> log_in(
    RefusedLogins& refused, SnapshotPtr snapshot, ServerRequest request,
    std::chrono::steady_clock::time_point give_up_at) {
  const std::string login = login_key(*snapshot, request);
  if (std::optional<ServerFailure> failure = refused.standing(login, RefusedLogins::Clock::now()))
    co_return *std::move(failure);
  auto opened = co_await open_server_connection(std::move(snapshot), std::move(request), give_up_at);
  refused.ended(login, std::get_if<ServerFailure>(&opened), RefusedLogins::Clock::now());
  co_return opened;
}

}  // namespace sluice::router
