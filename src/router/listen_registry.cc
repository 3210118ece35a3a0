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
    if (found->second.idle()) sinks_.erase(found);
    return waits ? Effect::Later : Effect::Now;
  }
  Sink& state = sinks_.try_emplace(&sink, Sink{place.key}).first->second;
  const bool listens = state.channels.contains(change.channel);
  if (!listens && state.channels.size() >= kChannelsMax) return Effect::TooMany;
  Channel& channel = places_[state.key][change.channel];
  if (state.early.erase(change.channel) > 0) std::erase(channel.early, &sink);
  if (!listens) {
    state.channels.insert(change.channel);
    channel.sinks.push_back(&sink);
  }
  if (!channel.granted) wait(sink, state, place, change.channel, channel);
  return state.waiting > 0 ? Effect::Later : Effect::Now;
}

ListenRegistry::Effect ListenRegistry::begin(NotificationSink& sink, const ListenPlace& place,
                                             const std::string& name) {
  Sink& state = sinks_.try_emplace(&sink, Sink{place.key}).first->second;
  const bool known = state.channels.contains(name) || state.early.contains(name);
  // Beyond the limit its commit will say so.
  if (!known && state.channels.size() + state.early.size() >= kChannelsMax)
    return state.waiting > 0 ? Effect::Later : Effect::Now;
  Channel& channel = places_[state.key][name];
  if (!known) {
    state.early.insert(name);
    channel.early.push_back(&sink);
  }
  if (!channel.granted) wait(sink, state, place, name, channel);
  return state.waiting > 0 ? Effect::Later : Effect::Now;
}

void ListenRegistry::settle(NotificationSink& sink) {
  const auto found = sinks_.find(&sink);
  if (found == sinks_.end()) return;
  drop_early(sink, found->second);
  if (found->second.idle()) sinks_.erase(found);
}

void ListenRegistry::wait_no_more(NotificationSink& sink) {
  const auto found = sinks_.find(&sink);
  if (found == sinks_.end()) return;
  Sink& state = found->second;
  for (const std::string& name : state.early)
    state.waiting -= std::erase(find(state.key, name)->waiting, &sink);
}

bool ListenRegistry::listens(NotificationSink& sink, std::string_view channel) const noexcept {
  const auto found = sinks_.find(&sink);
  return found != sinks_.end() && found->second.channels.contains(channel);
}

void ListenRegistry::wait(NotificationSink& sink, Sink& state, const ListenPlace& place,
                          const std::string& name, Channel& channel) {
  if (std::find(channel.waiting.begin(), channel.waiting.end(), &sink) != channel.waiting.end()) return;
  const bool asked = !channel.waiting.empty();
  channel.waiting.push_back(&sink);
  ++state.waiting;
  if (asked) return;
  channel.ticket = next_ticket_++;
  ListenPlace where = place;
  where.key = state.key;
  post_home(worker_,
            [thread = worker_.index(), where = std::move(where), name, ticket = channel.ticket](
                Listeners& listeners) mutable { listeners.listen(thread, std::move(where), name, ticket); });
}

void ListenRegistry::unlisten(NotificationSink& sink, Sink& state, const std::string& name) {
  if (state.channels.erase(name) > 0) let_go(sink, state, name);
}

void ListenRegistry::unlisten_all(NotificationSink& sink, Sink& state) {
  while (!state.channels.empty()) {
    const std::string name = *state.channels.begin();
    unlisten(sink, state, name);
  }
}

void ListenRegistry::drop_early(NotificationSink& sink, Sink& state) {
  while (!state.early.empty()) {
    const std::string name = *state.early.begin();
    state.early.erase(state.early.begin());
    let_go(sink, state, name);
  }
}

// Of a channel that it neither listens to any more, nor has begun to.
void ListenRegistry::let_go(NotificationSink& sink, Sink& state, const std::string& name) {
  const auto place = places_.find(state.key);
  const auto found = place->second.find(name);
  Channel& channel = found->second;
  state.waiting -= std::erase(channel.waiting, &sink);
  std::erase(channel.sinks, &sink);
  std::erase(channel.early, &sink);
  if (!channel.sinks.empty() || !channel.early.empty()) return;
  post_home(worker_, [thread = worker_.index(), key = state.key, name](Listeners& listeners) {
    listeners.unlisten(thread, key, name);
  });
  place->second.erase(found);
  if (place->second.empty()) places_.erase(place);
}

bool ListenRegistry::hear_all(NotificationSink& sink) {
  const auto found = sinks_.find(&sink);
  if (found == sinks_.end()) return false;
  const std::uint64_t ticket = next_ticket_++;
  hearing_.emplace(ticket, &sink);
  post_home(worker_, [thread = worker_.index(), key = found->second.key, ticket](Listeners& listeners) {
    listeners.hear_all(thread, key, ticket);
  });
  return true;
}

void ListenRegistry::heard_all(std::uint64_t ticket) {
  const auto found = hearing_.find(ticket);
  if (found == hearing_.end()) return;
  NotificationSink* const sink = found->second;
  hearing_.erase(found);
  sink->heard_all();
}

void ListenRegistry::leave(NotificationSink& sink) {
  std::erase_if(hearing_, [&sink](const auto& one) { return one.second == &sink; });
  const auto found = sinks_.find(&sink);
  if (found == sinks_.end()) return;
  unlisten_all(sink, found->second);
  drop_early(sink, found->second);
  sinks_.erase(found);
}

void ListenRegistry::granted(const std::string& key, const std::string& name, std::uint64_t ticket) {
  Channel* const channel = find(key, name);
  if (channel == nullptr || channel->ticket != ticket || std::exchange(channel->granted, true)) return;
  // A session that is told may end, or listen to something else.
  const std::vector<NotificationSink*> waiting = std::exchange(channel->waiting, {});
  for (NotificationSink* const sink : waiting)
    if (const auto state = sinks_.find(sink); state != sinks_.end() && --state->second.waiting == 0)
      sink->listening();
}

void ListenRegistry::refused(const std::string& key, const std::string& name, std::uint64_t ticket,
                             const protocol::ErrorFields& why) {
  Channel* const channel = find(key, name);
  if (channel == nullptr || channel->ticket != ticket || channel->granted) return;
  const std::vector<NotificationSink*> waiting = channel->waiting;
  for (NotificationSink* const sink : waiting) {
    leave(*sink);
    sink->cannot_listen(why);
  }
}

void ListenRegistry::lost(const std::string& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  for (auto& [name, channel] : place->second)
    channel.granted = false;
}

void ListenRegistry::deliver(const std::string& key, const std::string& name, const Bytes& message) {
  Channel* const channel = find(key, name);
  if (channel == nullptr) return;
  const std::vector<NotificationSink*> sinks = channel->sinks, early = channel->early;
  for (NotificationSink* const sink : sinks)
    if (sinks_.contains(sink)) sink->notified(message);
  for (NotificationSink* const sink : early)
    if (sinks_.contains(sink)) sink->notified_early(name, message);
}

}  // namespace sluice::router
