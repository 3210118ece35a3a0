// Joins network namespaces by links with an adjustable one-way delay, on kernels without netem.
//
// usage: delay_relay LINK:NETNS_A:ADDRESS_A:NETNS_B:ADDRESS_B ...
//
// Each link is a pair of TUN devices, named after the link, one in each namespace; addresses are of a /30.
// What one device is sent comes out of the other, after the link's delay. Commands on standard input, one a
// line, answered with "ok" or "error ..." on standard output:
//   LINK MICROSECONDS     delay of both directions of a link from now on; packets under way keep theirs
// Ends with standard input.
//
// Precision: waits in the kernel until shortly before a packet is due and then watches the clock. A packet is
// late by what the scheduler makes of a process that is ready to run; the experiment measures that with ping.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::size_t kPacketBytesMax = 2048;
constexpr std::size_t kQueueMax = 4096;
constexpr microseconds kWatch{120};      // before it is due, the clock is watched
constexpr microseconds kPathItself{15};  // what a packet takes besides: two devices and a wake-up
constexpr long kDelayMaxMicros = 1'000'000;

struct Packet {
  Clock::time_point due;
  std::vector<char> bytes;
};

// One direction of a link.
struct Direction {
  int from = -1, to = -1;
  microseconds delay{0};
  std::deque<Packet> queue;
};

struct Link {
  std::string name;
  Direction there, back;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == mark)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

// A TUN device in a namespace, up, with an address. The process stays in that namespace.
int open_tun(const std::string& netns, const std::string& name, const std::string& address) {
  const int ns = ::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);
  if (ns < 0 || ::setns(ns, CLONE_NEWNET) != 0) fail("namespace " + netns);
  ::close(ns);
  const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (::ioctl(fd, TUNSETIFF, &request) != 0) fail("device " + name);
  run("ip address add " + address + "/30 dev " + name + " && ip link set dev " + name +
      " up txqueuelen 1000");
  return fd;
}

Link open_link(const std::string& description) {
  const std::vector<std::string> parts = split(description, ':');
  if (parts.size() != 5)
    throw std::runtime_error("not LINK:NETNS_A:ADDRESS_A:NETNS_B:ADDRESS_B: " + description);
  Link link;
  link.name = parts[0];
  const int a = open_tun(parts[1], parts[0], parts[2]), b = open_tun(parts[3], parts[0], parts[4]);
  link.there.from = link.back.to = a;
  link.there.to = link.back.from = b;
  return link;
}

void take_in(Direction& direction) {
  char bytes[kPacketBytesMax];
  for (;;) {
    const ssize_t count = ::read(direction.from, bytes, sizeof bytes);
    if (count <= 0) return;
    if (direction.queue.size() >= kQueueMax) continue;
    const auto wait = std::max(direction.delay - kPathItself, microseconds(0));
    direction.queue.push_back({Clock::now() + wait, {bytes, bytes + count}});
  }
}

void give_out(Direction& direction, Clock::time_point now) {
  while (!direction.queue.empty() && direction.queue.front().due <= now) {
    const std::vector<char>& bytes = direction.queue.front().bytes;
    if (::write(direction.to, bytes.data(), bytes.size()) < 0 && errno != EAGAIN && errno != EIO)
      fail("write");
    direction.queue.pop_front();
  }
}

class Relay {
 public:
  explicit Relay(std::vector<Link> links) : links_(std::move(links)) {
    for (Link& link : links_)
      for (Direction* direction : {&link.there, &link.back})
        directions_.push_back(direction);
    polled_.push_back({STDIN_FILENO, POLLIN, 0});
    for (const Direction* direction : directions_)
      polled_.push_back({direction->from, POLLIN, 0});
  }

  void run() {
    std::puts("ready");
    std::fflush(stdout);
    for (;;) {
      wait();
      if ((polled_[0].revents & (POLLIN | POLLHUP)) != 0 && !read_commands()) return;
      for (Direction* direction : directions_) {
        take_in(*direction);
        give_out(*direction, Clock::now());
      }
    }
  }

 private:
  // Until something comes in, or shortly before something is due; not at all where that is so already.
  void wait() {
    auto next = Clock::time_point::max();
    for (const Direction* direction : directions_)
      if (!direction->queue.empty()) next = std::min(next, direction->queue.front().due);
    timespec timeout{1, 0};
    if (next != Clock::time_point::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(next - kWatch - Clock::now());
      const long long nanos = std::max<long long>(left.count(), 0);
      timeout = {static_cast<time_t>(nanos / 1'000'000'000), static_cast<long>(nanos % 1'000'000'000)};
    }
    for (pollfd& each : polled_)
      each.revents = 0;
    ::ppoll(polled_.data(), polled_.size(), &timeout, nullptr);
  }

  // False at the end of standard input.
  bool read_commands() {
    char bytes[512];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count <= 0) return false;
    commands_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = commands_.find('\n'); end != commands_.npos; end = commands_.find('\n')) {
      std::puts(obey(commands_.substr(0, end)).c_str());
      std::fflush(stdout);
      commands_.erase(0, end + 1);
    }
    return true;
  }

  std::string obey(const std::string& line) {
    const std::vector<std::string> words = split(line, ' ');
    char* end = nullptr;
    const long micros = words.size() == 2 ? std::strtol(words[1].c_str(), &end, 10) : -1;
    if (micros < 0 || micros > kDelayMaxMicros || *end != '\0') return "error: LINK MICROSECONDS";
    for (Link& link : links_) {
      if (link.name != words[0]) continue;
      link.there.delay = link.back.delay = microseconds(micros);
      return "ok";
    }
    return "error: no such link";
  }

  std::vector<Link> links_;
  std::vector<Direction*> directions_;
  std::vector<pollfd> polled_;
  std::string commands_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    std::vector<Link> links;
    for (int i = 1; i < argc; ++i)
      links.push_back(open_link(argv[i]));
    // Ahead of what it delays, where we may; it sleeps whenever nothing is under way.
    const sched_param first{.sched_priority = 10};
    if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0)
      std::fprintf(stderr, "delay_relay: no real-time priority\n");
    Relay(std::move(links)).run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "delay_relay: %s\n", e.what());
    return 1;
  }
}
