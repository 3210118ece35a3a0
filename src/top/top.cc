#include "top/top.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "top/console_client.h"
#include "top/page.h"
#include "top/terminal.h"

namespace sluice::top {
namespace {

using Clock = std::chrono::steady_clock;

// How long the console may take for an answer before the connection is given up.
constexpr std::chrono::seconds kAnswerTimeout{10};

// Signals as bytes to be read: no handler runs anywhere.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH})
      sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
    std::signal(SIGPIPE, SIG_IGN);
    descriptor_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    if (descriptor_ >= 0) ::close(descriptor_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  int descriptor() const noexcept { return descriptor_; }
  // Takes what has come. Whether one of them is to end the program.
  bool end() const {
    signalfd_siginfo info{};
    bool ended = false;
    while (::read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      ended = ended || info.ssi_signo != SIGWINCH;
    return ended;
  }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

class Top {
 public:
  explicit Top(const Settings& settings) : settings_(settings), console_(settings.conninfo) {
    if (!settings.once) terminal_ = std::make_unique<Terminal>();
  }

  // Until there is nothing more to do.
  int run() {
    if (!console_.connect()) return give_up();
    view_.where = console_.where();
    ask();
    while (!done_) {
      wait();
      if (signals_.end()) break;
      take_keys();
      take_answer();
      if (done_) break;
      if (Clock::now() >= due_) next();
      if (terminal_ && terminal_->lost()) break;
      redraw();
    }
    return settings_.once && !printed_ ? give_up() : 0;
  }

 private:
  int give_up() {
    terminal_.reset();
    std::cerr << "sluice: " << console_.problem() << "\n";
    return 1;
  }

  void ask() {
    waiting_ = console_.ask();
    due_ = Clock::now() + (waiting_ ? Clock::duration(kAnswerTimeout) : Clock::duration(settings_.interval));
  }

  // An answer is overdue, or it is time for the next question.
  void next() {
    if (waiting_) {
      console_.disconnect();
      waiting_ = false;
      view_.problem = "the console has not answered for " + std::to_string(kAnswerTimeout.count()) + " s";
    }
    if (!console_.connected() && !console_.connect()) {
      view_.problem = console_.problem();
      due_ = Clock::now() + settings_.interval;
      done_ = settings_.once;
      return;
    }
    ask();
  }

  void take_answer() {
    if (!waiting_) return;
    std::optional<Sample> sample = console_.receive();
    if (!console_.connected()) {
      waiting_ = false;
      view_.problem = console_.problem();
      due_ = Clock::now() + settings_.interval;
      done_ = settings_.once;
    }
    if (!sample) return;
    waiting_ = false;
    due_ = Clock::now() + settings_.interval;
    view_.problem.clear();
    if (view_.frozen) return;
    before_ = std::move(now_);
    now_ = std::move(sample);
    if (settings_.once && before_) print();
  }

  void print() {
    view_.columns = 400;
    for (const Line& line : page(*now_, before_, view_))
      std::cout << line.text << "\n";
    std::cout << std::flush;
    printed_ = done_ = true;
  }

  void wait() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due_ - Clock::now());
    const int milliseconds = static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 10'000));
    std::array<pollfd, 3> sources{pollfd{signals_.descriptor(), POLLIN, 0},
                                  pollfd{waiting_ ? console_.descriptor() : -1, POLLIN, 0},
                                  pollfd{terminal_ ? STDIN_FILENO : -1, POLLIN, 0}};
    (void)::poll(sources.data(), sources.size(), milliseconds);
  }

  void take_keys() {
    while (terminal_ && !terminal_->lost()) {
      const std::optional<char> key = terminal_->key();
      if (!key) return;
      if (*key == 'q' || *key == 'Q') done_ = true;
      if (*key == 's') view_.sort = next_sort(view_.sort);
      if (*key == 'r') view_.reversed = !view_.reversed;
      if (*key == ' ') view_.frozen = !view_.frozen;
    }
  }

  void redraw() {
    if (!terminal_ || done_) return;
    const terminal::Size size = terminal_->size();
    view_.columns = size.columns;
    view_.rows = size.rows;
    if (now_) return terminal_->draw(page(*now_, before_, view_));
    terminal_->draw({{view_.problem.empty() ? "waiting for " + view_.where : view_.problem, Style::Plain}});
  }

  const Settings settings_;
  const Signals signals_;
  ConsoleClient console_;
  std::unique_ptr<Terminal> terminal_;
  View view_;
  std::optional<Sample> before_, now_;
  Clock::time_point due_{};
  bool waiting_ = false;  // for an answer
  bool printed_ = false;
  bool done_ = false;
};

}  // namespace

int run(const Settings& settings) {
  if (!settings.once && !Terminal::usable()) {
    std::cerr << "sluice: top needs a terminal; --once prints one page\n";
    return 1;
  }
  Top top(settings);
  return top.run();
}

}  // namespace sluice::top
