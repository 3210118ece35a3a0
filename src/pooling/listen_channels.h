#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::pooling {

// What one server connection listens to on behalf of the router's threads: who wants which channel, what the
// server is to be told of it next, and who may be told that it listens.
// Protocol: next_sql() gives a Query; ready() when its ReadyForQuery has come, or failed() when that came
//           behind an error; then next_sql() again. Without a connection nothing is listened to:
//           disconnected(), and on the next one next_sql() says what it has to.
// Shape:    at most kStatementsMax statements in one Query; channels as many as are wanted.
// Thread:   one.
class ListenChannels {
 public:
  static constexpr std::size_t kStatementsMax = 500;

  // Who asked for what; `ticket` is the asker's, to tell an answer that came too late.
  struct Granted {
    unsigned thread;
    std::string channel;
    std::uint64_t ticket;
  };

  // A thread wants a channel from now on, and to be told by take_granted() that it is listened to: at once
  // where it is. Again for the same thread and channel: it wants to be told once more.
  void add(unsigned thread, const std::string& channel, std::uint64_t ticket);
  void remove(unsigned thread, const std::string& channel);

  void disconnected();
  // "" while a Query runs, or when there is nothing to say.
  std::string next_sql();
  void ready();
  // What was said together is said again one by one; what fails alone is given, and taken out. Nothing: that
  // cannot be taken out, as threads rely on it, or was to be unlistened: another connection is needed.
  std::optional<std::vector<Granted>> failed();
  // Since the last call.
  std::vector<Granted> take_granted();
  // Those to be told still: the server cannot be had. Taken out, unless they have been told before.
  std::vector<Granted> take_waiting();

  bool running() const noexcept { return running_; }
  std::size_t size() const noexcept { return channels_.size(); }
  // No channel is wanted.
  bool empty() const noexcept { return wanted_ == 0; }
  // The threads that a notification is for, each once.
  std::vector<unsigned> threads_of(std::string_view channel) const;

 private:
  enum class State : std::uint8_t { Silent, Starting, Listening, Stopping };
  struct Wish {
    unsigned thread;
    std::uint64_t ticket;
    bool waits = true;
    bool granted = false;  // once
  };
  struct Channel {
    State state = State::Silent;
    std::vector<Wish> wishes{};
  };
  void grant(const std::string& name, Channel& channel);

  std::map<std::string, Channel, std::less<>> channels_;
  std::vector<Granted> granted_;
  std::size_t wanted_ = 0;  // channels with wishes
  std::size_t alone_ = 0;   // so many statements are to be said one by one
  bool running_ = false;
};

// A name as SQL's quoted identifier.
std::string quoted_identifier(std::string_view name);

}  // namespace sluice::pooling
