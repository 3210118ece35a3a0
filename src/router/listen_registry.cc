#include "router/listen_registry.h"

#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "router/listeners.h"
#include "router/worker.h"

namespace sluice::router {
namespace {

// All that the home thread is told goes one way, in order.
template <class Tell>
void post_home(Worker& worker, Tell tell) {
  Worker& home = *worker.shared().workers.front();
  asio::post(home.context(), [&home, tell = std::move(tell)]() mutable { tell(home.listeners()); });
}

}  // namespace

ListenRegistry::Channel* ListenRegistry::find(const std::string& key, std::string_view channel) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  const auto found = place->second.find(channel);
  return found == place->second.end() ? nullptr : &found->second;
}

std::size_t ListenRegistry::channel_count(NotificationSink& sink) const noexcept {
  const auto found = sinks_.find(&sink);
  return found == sinks_.end() ? 0 : found->second.channels.size();
}

bool ListenRegistry::waits(NotificationSink& sink) const noexcept {
  const auto found = sinks_.find(&sink);
  return found != sinks_.end() && found->second.waiting > 0;
}

ListenRegistry::Effect ListenRegistry::change(NotificationSink& sink, const ListenPlace& place,
                                              const pooling::ListenChange& change) {
  if (change.action != pooling::SqlAction::Listen) {
    const auto found = sinks_.find(&sink);
    if (found == sinks_.end()) return Effect::Now;
    if (change.action == pooling::SqlAction::UnlistenAll)
      unlisten_all(sink, found->second);
    else
      unlisten(sink, found->second, change.channel);
    const bool waits = found->second.waiting > 0;
    if (found->second.channels.empty()) sinks_.erase(found);
    return waits ? Effect::Later : Effect::Now;
  }
  Sink& state = sinks_.try_emplace(&sink, Sink{place.key}).first->second;
  if (state.channels.contains(change.channel)) return state.waiting > 0 ? Effect::Later : Effect::Now;
  if (state.channels.size() >= kChannelsMax) return Effect::TooMany;
  state.channels.insert(change.channel);
  Channel& channel = places_[state.key][change.channel];
  channel.sinks.push_back(&sink);
  if (channel.ticket == 0) {
    channel.ticket = next_ticket_++;
    ListenPlace where = place;
    where.key = state.key;
    post_home(worker_, [thread = worker_.index(), where = std::move(where), name = change.channel,
                        ticket = channel.ticket](Listeners& listeners) mutable {
      listeners.listen(thread, std::move(where), name, ticket);
    });
  }
  if (!channel.granted) ++state.waiting;
  return state.waiting > 0 ? Effect::Later : Effect::Now;
}

void ListenRegistry::unlisten(NotificationSink& sink, Sink& state, const std::string& name) {
  if (state.channels.erase(name) == 0) return;
  const auto place = places_.find(state.key);
  const auto found = place->second.find(name);
  Channel& channel = found->second;
  if (!channel.granted) --state.waiting;
  std::erase(channel.sinks, &sink);
  if (!channel.sinks.empty()) return;
  post_home(worker_, [thread = worker_.index(), key = state.key, name](Listeners& listeners) {
    listeners.unlisten(thread, key, name);
  });
  place->second.erase(found);
  if (place->second.empty()) places_.erase(place);
}

void ListenRegistry::unlisten_all(NotificationSink& sink, Sink& state) {
  while (!state.channels.empty()) {
    const std::string name = *state.channels.begin();
    unlisten(sink, state, name);
  }
}

void ListenRegistry::leave(NotificationSink& sink) {
  const auto found = sinks_.find(&sink);
  if (found == sinks_.end()) return;
  unlisten_all(sink, found->second);
  sinks_.erase(found);
}

void ListenRegistry::granted(const std::string& key, const std::string& name, std::uint64_t ticket) {
  Channel* const channel = find(key, name);
  if (channel == nullptr || channel->ticket != ticket || std::exchange(channel->granted, true)) return;
  // A session that is told may end, or listen to something else.
  const std::vector<NotificationSink*> sinks = channel->sinks;
  for (NotificationSink* const sink : sinks)
    if (const auto state = sinks_.find(sink); state != sinks_.end() && --state->second.waiting == 0)
      sink->listening();
}

void ListenRegistry::refused(const std::string& key, const std::string& name, std::uint64_t ticket,
                             const protocol::ErrorFields& why) {
  Channel* const channel = find(key, name);
  if (channel == nullptr || channel->ticket != ticket || channel->granted) return;
  const std::vector<NotificationSink*> sinks = channel->sinks;
  for (NotificationSink* const sink : sinks) {
    leave(*sink);
    sink->cannot_listen(why);
  }
}

void ListenRegistry::deliver(const std::string& key, const std::string& name, const Bytes& message) {
  Channel* const channel = find(key, name);
  if (channel == nullptr) return;
  const std::vector<NotificationSink*> sinks = channel->sinks;
  for (NotificationSink* const sink : sinks)
    if (sinks_.contains(sink)) sink->notified(message);
}

}  // namespace sluice::router
