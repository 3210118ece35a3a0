#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::pooling {

// What one server connection listens to on behalf of the router's threads: who wants which channel, what the
// server is to be told of it next, and who may be told that it listens.
// Protocol: next_sql() gives a Query; ready() when its ReadyForQuery has come; then next_sql() again. A new
//           connection listens to nothing: connected(), and next_sql() says what it has to.
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

  // A thread wants a channel from now on; once for each thread and channel. What is listened to already
  // counts as granted at the next ready(), or at once when nothing is running: take_granted().
  void add(unsigned thread, const std::string& channel, std::uint64_t ticket);
  void remove(unsigned thread, const std::string& channel);

  void connected();
  // "" while a Query runs, or when there is nothing to say.
  std::string next_sql();
  void ready();
  // Since the last call.
  std::vector<Granted> take_granted();
  // Those not granted yet, which are taken out: the server cannot be had, or refuses.
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
    bool granted = false;
  };
  struct Channel {
    State state = State::Silent;
    std::vector<Wish> wishes{};
  };
  void grant(const std::string& name, Channel& channel);

  std::map<std::string, Channel, std::less<>> channels_;
  std::vector<Granted> granted_;
  std::size_t wanted_ = 0;  // channels with wishes
  bool running_ = false;
};

// A name as SQL's quoted identifier.
std::string quoted_identifier(std::string_view name);

}  // namespace sluice::pooling
