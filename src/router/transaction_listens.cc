// What a session in transaction mode listens to: see Listeners.
#include <utility>

#include "router/transaction_session.h"
#include "router/worker.h"

namespace sluice::router {
namespace {

namespace metric = telemetry::metric;
using protocol::ErrorFields;

constexpr std::string_view kEncoding = "client_encoding";

ErrorFields too_many_channels() {
  return {"FATAL", "54000", "too many channels are listened to", "",
          "A session may listen to " + std::to_string(ListenRegistry::kChannelsMax) + " channels."};
}

ErrorFields too_many_unread() {
  return {"FATAL", "54000", "too many notifications wait for this client (notification_buffer)", "",
          "Notifications are given between two transactions: end them in time, and read."};
}

ErrorFields nobody_to_listen_to() {
  return {"FATAL", "57P03", "the primary could not be listened to in time (query_wait_timeout)", "", ""};
}

}  // namespace

std::size_t TransactionSession::channel_count() {
  return worker_.listen_registry().channel_count(*this);
}

// Payloads come in the encoding of the connection: it has to be the client's.
ListenPlace TransactionSession::listen_place() const {
  ListenPlace place;
  place.database = pool_.ways()[0].parameters[1].second;
  const std::string* const encoding = pooling::value_of(*settings_.wanted(), kEncoding);
  if (encoding != nullptr) place.encoding = *encoding;
  place.key = place.database + '\0' + place.encoding;
  place.ways = pool_.ways();
  return place;
}

void TransactionSession::count_listening() {
  const bool listens = channel_count() > 0;
  if (std::exchange(counted_as_listening_, listens) == listens) return;
  worker_.metrics().change(metric::listening_sessions, listens ? 1 : -1);
}

// Before the transaction goes on: it may notify these channels, and be committed.
bool TransactionSession::listens_begun(std::vector<std::string> channels) {
  const ListenPlace place = listen_place();
  bool later = false;
  for (const std::string& channel : channels)
    later = worker_.listen_registry().begin(*this, place, channel) == ListenRegistry::Effect::Later;
  if (later && !listen_since_) listen_since_ = Clock::now();
  translator_.watch_notify(true);
  return later;
}

bool TransactionSession::listens_changed(std::vector<pooling::ListenChange> changes) {
  ListenRegistry& registry = worker_.listen_registry();
  const ListenPlace place = listen_place();
  bool later = false;
  for (const pooling::ListenChange& change : changes) {
    const ListenRegistry::Effect effect = registry.change(*this, place, change);
    if (effect == ListenRegistry::Effect::TooMany) {
      owner_.end_for_want_of_server(too_many_channels());
      break;
    }
    later = effect == ListenRegistry::Effect::Later;
  }
  count_listening();
  if (later && !listen_since_) listen_since_ = Clock::now();
  translator_.watch_notify(registry.channel_count(*this) > 0);
  return later;
}

void TransactionSession::listens_failed() {
  ListenRegistry& registry = worker_.listen_registry();
  registry.wait_no_more(*this);
  if (!registry.waits(*this)) listen_since_.reset();
}

void TransactionSession::listens_settled() {
  worker_.listen_registry().settle(*this);
  translator_.watch_notify(channel_count() > 0);
}

bool TransactionSession::listens_to(std::string_view channel) {
  return worker_.listen_registry().listens(*this, channel);
}

bool TransactionSession::wants_to_hear_all() {
  return worker_.listen_registry().hear_all(*this);
}

void TransactionSession::heard_all() {
  if (relay_) relay_->heard_all();
}

void TransactionSession::listening() {
  listen_since_.reset();
  if (relay_) relay_->open_gate();
}

void TransactionSession::cannot_listen(const ErrorFields& why) {
  count_listening();
  listen_since_.reset();
  ErrorFields fatal = why;
  fatal.severity = "FATAL";
  owner_.end_for_want_of_server(std::move(fatal));
}

void TransactionSession::notified(ByteView message) {
  if (!relay_) return;
  relay_->notify(message);
  worker_.metrics().count(metric::notifications_total, database_);
  limit_unread();
}

void TransactionSession::notified_early(const std::string& channel, ByteView message) {
  if (!relay_) return;
  relay_->notify_early(channel, message);
  limit_unread();
}

void TransactionSession::limit_unread() {
  if (relay_->notification_bytes() > worker_.snapshot()->options().notification_buffer)
    owner_.end_for_unread_notifications(too_many_unread());
}

void TransactionSession::tick_listens(Clock::time_point now) {
  if (!listen_since_) return;
  if (!worker_.listen_registry().waits(*this)) return listening();  // it took back what it had asked for
  if (now - *listen_since_ < worker_.snapshot()->options().query_wait_timeout) return;
  listen_since_.reset();
  owner_.end_for_want_of_server(nobody_to_listen_to());
}

void TransactionSession::end_relay() {
  worker_.listen_registry().leave(*this);
  count_listening();
  relay_.reset();
}

}  // namespace sluice::router
