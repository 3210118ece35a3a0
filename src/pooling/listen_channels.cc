#include "pooling/listen_channels.h"

#include <algorithm>
#include <utility>

namespace sluice::pooling {

std::string quoted_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

void ListenChannels::grant(const std::string& name, Channel& channel) {
  for (Wish& wish : channel.wishes) {
    if (!std::exchange(wish.waits, false)) continue;
    wish.granted = true;
    granted_.push_back({wish.thread, name, wish.ticket});
  }
}

void ListenChannels::add(unsigned thread, const std::string& name, std::uint64_t ticket) {
  Channel& channel = channels_[name];
  if (channel.wishes.empty()) ++wanted_;
  const auto known = std::find_if(channel.wishes.begin(), channel.wishes.end(),
                                  [thread](const Wish& wish) { return wish.thread == thread; });
  if (known == channel.wishes.end()) {
    channel.wishes.push_back({thread, ticket});
  } else {
    known->ticket = ticket;
    known->waits = true;
  }
  if (channel.state == State::Listening) grant(name, channel);
}

void ListenChannels::remove(unsigned thread, const std::string& name) {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return;
  Channel& channel = found->second;
  const std::size_t before = channel.wishes.size();
  std::erase_if(channel.wishes, [thread](const Wish& wish) { return wish.thread == thread; });
  if (before == 0 || !channel.wishes.empty()) return;
  --wanted_;
  if (channel.state == State::Silent) channels_.erase(found);
}

void ListenChannels::disconnected() {
  running_ = false;
  alone_ = 0;
  for (auto each = channels_.begin(); each != channels_.end();) {
    each->second.state = State::Silent;
    each = each->second.wishes.empty() ? channels_.erase(each) : std::next(each);
  }
}

std::string ListenChannels::next_sql() {
  if (running_) return {};
  std::string sql;
  std::size_t count = 0;
  for (auto& [name, channel] : channels_) {
    if (count == (alone_ > 0 ? 1 : kStatementsMax)) break;
    const bool wanted = !channel.wishes.empty();
    if (wanted == (channel.state == State::Listening)) continue;
    channel.state = wanted ? State::Starting : State::Stopping;
    sql += (wanted ? "LISTEN " : "UNLISTEN ") + quoted_identifier(name) + ';';
    ++count;
  }
  running_ = count > 0;
  return sql;
}

void ListenChannels::ready() {
  running_ = false;
  if (alone_ > 0) --alone_;
  for (auto each = channels_.begin(); each != channels_.end();) {
    Channel& channel = each->second;
    if (channel.state == State::Starting) {
      channel.state = State::Listening;
      grant(each->first, channel);
    } else if (channel.state == State::Stopping) {
      channel.state = State::Silent;
    }
    const bool gone = channel.state == State::Silent && channel.wishes.empty();
    each = gone ? channels_.erase(each) : std::next(each);
  }
}

std::optional<std::vector<ListenChannels::Granted>> ListenChannels::failed() {
  running_ = false;
  std::vector<std::map<std::string, Channel, std::less<>>::iterator> said;
  for (auto each = channels_.begin(); each != channels_.end(); ++each)
    if (each->second.state == State::Starting || each->second.state == State::Stopping) said.push_back(each);
  for (const auto& each : said)
    each->second.state = each->second.state == State::Starting ? State::Silent : State::Listening;
  std::vector<Granted> refused;
  if (said.size() > 1) {
    alone_ = said.size();
    return refused;
  }
  if (alone_ > 0) --alone_;
  for (const auto& each : said) {
    Channel& channel = each->second;
    const bool relied_on = std::any_of(channel.wishes.begin(), channel.wishes.end(),
                                       [](const Wish& wish) { return wish.granted; });
    if (channel.state == State::Listening || relied_on) return std::nullopt;
    for (const Wish& wish : channel.wishes)
      refused.push_back({wish.thread, each->first, wish.ticket});
    if (!channel.wishes.empty()) --wanted_;
    channels_.erase(each);
  }
  return refused;
}

std::vector<ListenChannels::Granted> ListenChannels::take_granted() {
  return std::exchange(granted_, {});
}

std::vector<ListenChannels::Granted> ListenChannels::take_waiting() {
  std::vector<Granted> waiting;
  for (auto each = channels_.begin(); each != channels_.end();) {
    std::vector<Wish>& wishes = each->second.wishes;
    const bool was_wanted = !wishes.empty();
    for (Wish& wish : wishes)
      if (std::exchange(wish.waits, false)) waiting.push_back({wish.thread, each->first, wish.ticket});
    std::erase_if(wishes, [](const Wish& wish) { return !wish.granted; });
    if (was_wanted && wishes.empty()) --wanted_;
    each = wishes.empty() && each->second.state == State::Silent ? channels_.erase(each) : std::next(each);
  }
  return waiting;
}

std::vector<unsigned> ListenChannels::threads_of(std::string_view name) const {
  std::vector<unsigned> threads;
  const auto found = channels_.find(name);
  if (found == channels_.end()) return threads;
  for (const Wish& wish : found->second.wishes)
    threads.push_back(wish.thread);
  return threads;
}

}  // namespace sluice::pooling
