#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "net/listener.h"
#include "service/predecessor.h"
#include "service/takeover_channel.h"
#include "service/takeover_point.h"

namespace sluice::service {
namespace {

using Answer = Predecessor::Answer;

// A loopback socket that listens; closed with the object.
class ListeningSocket {
 public:
  ListeningSocket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
  }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket() { ::close(fd_); }

  int get() const { return fd_; }
  net::InheritedSockets::EndPoint where() const {
    net::InheritedSockets::EndPoint point;
    auto size = static_cast<socklen_t>(point.capacity());
    EXPECT_EQ(::getsockname(fd_, point.data(), &size), 0);
    point.resize(size);
    return point;
  }
  std::uint16_t port() const { return ntohs(reinterpret_cast<const sockaddr_in*>(where().data())->sin_port); }
  // A client's end, connected; nobody need accept it.
  int connect() const {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto point = where();
    EXPECT_EQ(::connect(client, point.data(), static_cast<socklen_t>(point.size())), 0);
    return client;
  }

 private:
  int fd_;
};

// A packet that is there already.
std::optional<Packet> receive_now(int fd) {
  pollfd waits{fd, POLLIN, 0};
  if (::poll(&waits, 1, 0) != 1) return std::nullopt;
  auto packet = receive_packet(fd);
  return packet ? std::optional(*std::move(packet)) : std::nullopt;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Whether the thread waits in the kernel.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(") S ") != text.npos;
}

// The old process: a takeover point on a thread of its own.
class TakeoverTest : public testing::Test {
 protected:
  TakeoverTest() {
    std::array<char, 32> folder{"/tmp/sluice-takeover-XXXXXX"};
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder.data();
    path_ = folder_ + "/point";
  }
  ~TakeoverTest() override {
    if (thread_.joinable()) {
      asio::co_spawn(io_, point_->stop(), asio::use_future).get();
      work_.reset();
      thread_.join();
    }
    std::filesystem::remove_all(folder_);
  }

  // Runs nothing yet.
  void make(TakeoverPoint::Sockets sockets) {
    point_ = std::make_unique<TakeoverPoint>(
        io_.get_executor(), path_, kRouterTakeover,
        TakeoverPoint::Callbacks{[sockets = std::move(sockets)] { return sockets; },
                                 [this] { called_off_.set_value(); },
                                 [this](pid_t by) { taken_by_.push_back(by); }});
    std::string problem;
    ASSERT_TRUE(point_->start(problem)) << problem;
  }
  void start(TakeoverPoint::Sockets sockets) {
    make(std::move(sockets));
    thread_ = std::thread([this] { io_.run(); });
  }
  // A raw connection to the point, blocking.
  int dial() const {
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  Predecessor take() {
    std::string problem;
    auto predecessor = Predecessor::at(path_, kRouterTakeover, problem);
    EXPECT_TRUE(predecessor && *predecessor) << problem;
    return std::move(**predecessor);
  }

  std::string folder_, path_, problem_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<TakeoverPoint> point_;
  std::promise<void> called_off_;
  std::vector<pid_t> taken_by_;  // read after what was written by it has been answered
  std::thread thread_;
};

TEST_F(TakeoverTest, TheSuccessorHasTheSocketsAndTheOldProcessIsTold) {
  const ListeningSocket client, admin;
  start({{client.get()}, {admin.get()}, {"/run/newer", "/run/older"}});
  Predecessor predecessor = take();
  EXPECT_EQ(predecessor.cancel_paths(), (std::vector<std::string>{"/run/newer", "/run/older"}));
  EXPECT_TRUE(predecessor.clients().has(client.where()));
  EXPECT_FALSE(predecessor.clients().has(admin.where()));
  EXPECT_TRUE(predecessor.admin().has(admin.where()));
  ASSERT_EQ(predecessor.serving().answer, Answer::Released);
  EXPECT_EQ(taken_by_, std::vector<pid_t>{::getpid()});
  EXPECT_FALSE(Predecessor::at(path_, kRouterTakeover, problem_)->has_value())
      << "it waits for nobody any more";
}

TEST_F(TakeoverTest, MoreSocketsThanOnePacketHoldsAllArrive) {
  std::vector<std::unique_ptr<ListeningSocket>> sockets;
  TakeoverPoint::Sockets offered;
  for (std::size_t i = 0; i < 3 * kDescriptorsMax + 1; ++i)
    offered.clients.push_back(sockets.emplace_back(std::make_unique<ListeningSocket>())->get());
  start(offered);
  Predecessor predecessor = take();
  EXPECT_EQ(predecessor.clients().size(), sockets.size());
  for (const auto& socket : sockets)
    EXPECT_TRUE(predecessor.clients().has(socket->where()));
}

TEST_F(TakeoverTest, ASuccessorThatEndsBeforeItServesChangesNothing) {
  const ListeningSocket socket;
  start({{socket.get()}, {}});
  { const Predecessor ends = take(); }
  Predecessor second = take();
  EXPECT_TRUE(taken_by_.empty());
  called_off_.get_future().get();  // so that it takes back what it has given
  EXPECT_EQ(second.serving().answer, Answer::Released);
}

TEST_F(TakeoverTest, ARefusalIsToldToTheSuccessorAndTheNextOneMayTry) {
  start({{}, {}, {}, "a database is paused"});
  for (int round = 0; round < 2; ++round) {
    std::string problem;
    EXPECT_FALSE(Predecessor::at(path_, kRouterTakeover, problem));
    EXPECT_EQ(problem, "the running process is not taken over from: a database is paused");
  }
}

TEST_F(TakeoverTest, WhoDoesNotSpeakTheLanguageGetsNothing) {
  const ListeningSocket socket;
  start({{socket.get()}, {}});
  for (const std::string_view words : {"", "takeover 2", "serving", "takeover 1 placer"}) {
    const int fd = dial();
    if (words.empty()) {
      ::shutdown(fd, SHUT_WR);
    } else {
      ASSERT_TRUE(send_packet(fd, words));
    }
    const auto answer = receive_packet(fd);
    ASSERT_FALSE(answer) << words;
    EXPECT_EQ(answer.error().code, BaseErrc::Closed);
    ::close(fd);
  }
  EXPECT_EQ(take().serving().answer, Answer::Released);
}

TEST_F(TakeoverTest, ThePointIsForItsOwnerAlone) {
  start({});
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(TakeoverTest, APointTakesThePlaceOfOneThatWasLeftBehind) {
  std::filesystem::create_directories(folder_);
  const int left = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(left);
  EXPECT_FALSE(Predecessor::at(path_, kRouterTakeover, problem_)->has_value());
  start({});
  EXPECT_EQ(take().serving().answer, Answer::Released);
}

// Was: the wait had been cut off, and nobody looked at what had come.
TEST_F(TakeoverTest, WhatASuccessorSaysInTheTurnOfTheEndIsHeard) {
  const ListeningSocket socket;
  make({{socket.get()}, {}});
  const int fd = dial();
  ASSERT_TRUE(send_packet(fd, kRouterTakeover));
  for (int packets = 0; packets < 2;) {
    io_.poll();
    if (const auto packet = receive_now(fd)) {
      close_all(packet->descriptors);
      ++packets;
    }
  }
  ASSERT_TRUE(send_packet(fd, kServing));
  auto stopped = asio::co_spawn(io_, point_->stop(), asio::use_future);
  while (stopped.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    io_.run_one();
  EXPECT_EQ(taken_by_, std::vector<pid_t>{::getpid()});
  const auto answer = receive_packet(fd);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, kReleased);
  ::close(fd);
}

TEST_F(TakeoverTest, APathIsRefusedThatLeavesNoRoomForTheOneOfCancels) {
  // The longest at which a point could be made, beside its place.
  const std::size_t room = sizeof(sockaddr_un::sun_path) - 1 - std::to_string(::getpid()).size() - 1;
  const std::string path = folder_ + "/" + std::string(room - folder_.size() - 1, 'p');
  TakeoverPoint point(io_.get_executor(), path, kRouterTakeover, {});
  EXPECT_FALSE(point.start(problem_));
  EXPECT_NE(problem_.find(path), std::string::npos) << problem_;
}

// A process that listens at the path, by hand.
class FakePredecessor {
 public:
  explicit FakePredecessor(const std::string& path)
      : listening_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listening_, 4), 0);
  }
  FakePredecessor(const FakePredecessor&) = delete;
  FakePredecessor& operator=(const FakePredecessor&) = delete;
  ~FakePredecessor() { ::close(listening_); }

  // Its end of the connection, once it has given what it was asked for.
  int give() const {
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_TRUE(receive_packet(fd));
    EXPECT_TRUE(send_packet(fd, kEndOfSockets));
    return fd;
  }

 private:
  int listening_;
};

TEST_F(TakeoverTest, WhoWasGivenUpDoesNotTakeItForALettingGo) {
  const FakePredecessor fake(path_);
  enum class End { BeforeServing, WithServingUnread, WithServingRead };
  for (const End end : {End::BeforeServing, End::WithServingUnread, End::WithServingRead}) {
    std::thread other([&] {
      const int fd = fake.give();
      pollfd waits{fd, POLLIN, 0};
      if (end != End::BeforeServing) ::poll(&waits, 1, -1);
      if (end == End::WithServingRead) {
        EXPECT_TRUE(receive_packet(fd));
      }
      ::close(fd);
    });
    Predecessor predecessor = take();
    if (end == End::BeforeServing) other.join();
    const Predecessor::Told told = predecessor.serving();
    if (other.joinable()) other.join();
    EXPECT_EQ(told.answer, end == End::WithServingRead ? Answer::None : Answer::CalledOff)
        << static_cast<int>(end) << ": " << told.reason.message();
  }
  EXPECT_TRUE(Predecessor::waits_at(path_));
}

// Was: whatever kept us from asking was taken for the end of the former process, and both served.
TEST_F(TakeoverTest, WhoCannotBeAskedIsNotTakenForGone) {
  const int other_kind = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  ASSERT_EQ(::bind(other_kind, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(other_kind, 4), 0);
  EXPECT_TRUE(Predecessor::waits_at(path_)) << "EPROTOTYPE";
  ::close(other_kind);
}

// Was: the former process removed the point of the one that had taken its place meanwhile.
TEST_F(TakeoverTest, AnEndingProcessLeavesThePointOfAnother) {
  start({});
  const std::string others = folder_ + "/other";
  const FakePredecessor other(others);
  std::filesystem::rename(others, path_);
  asio::co_spawn(io_, point_->stop(), asio::use_future).get();
  EXPECT_TRUE(Predecessor::waits_at(path_));
}

TEST_F(TakeoverTest, NobodyWaitsAtAPathThatWasLeft) {
  { const FakePredecessor fake(path_); }
  EXPECT_FALSE(Predecessor::waits_at(path_));
}

// Was: a SIGHUP to the new process ended the takeover.
TEST(TakeoverChannel, ASignalEndsNoWait) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const timeval limit{60, 0};  // with one, the kernel begins no call anew
  ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  struct sigaction counted {
  }, before{};
  static std::atomic<int> signals{0};
  signals = 0;
  counted.sa_handler = [](int) { signals.fetch_add(1); };
  ::sigaction(SIGUSR1, &counted, &before);
  const pthread_t waiter = ::pthread_self();
  const pid_t waiter_id = ::gettid();
  std::thread other([&] {
    // One after the other: pending signals of one kind are one. In its wait each of them interrupts it.
    for (int i = 0; i < 50; ++i) {
      while (!sleeps(waiter_id))
        std::this_thread::yield();
      ::pthread_kill(waiter, SIGUSR1);
      while (signals.load() == i)
        std::this_thread::yield();
    }
    EXPECT_TRUE(send_packet(ends[1], kServing));
  });
  const auto packet = receive_packet(ends[0]);
  other.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  ASSERT_TRUE(packet) << packet.error().code.message();
  EXPECT_EQ(packet->text, kServing);
  EXPECT_EQ(signals.load(), 50);
  for (const int fd : ends)
    ::close(fd);
}

TEST(Predecessor, NobodyAtThePathIsNoError) {
  std::string problem;
  const auto none = Predecessor::at("/tmp/sluice-no-such-point", kRouterTakeover, problem);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
}

TEST(TakeoverChannel, ClosesWhatCameWithAPacketThatIsNotTaken) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const std::size_t before = open_descriptors();
  // One more than may come.
  constexpr std::size_t kCount = kDescriptorsMax + 1;
  std::array<int, kCount> many{};
  many.fill(STDERR_FILENO);
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof many)> control{};
  std::array<char, 1> text{'x'};
  iovec bytes{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof many);
  std::memcpy(CMSG_DATA(part), many.data(), sizeof many);
  ASSERT_EQ(::sendmsg(ends[0], &message, 0), 1);
  EXPECT_FALSE(receive_packet(ends[1]));
  EXPECT_EQ(open_descriptors(), before);
  // And a text that is too long, with one descriptor.
  const std::string text_too_long(kPacketBytesMax + 1, 'x');
  bytes = {const_cast<char*>(text_too_long.data()), text_too_long.size()};
  part->cmsg_len = CMSG_LEN(sizeof(int));
  message.msg_controllen = CMSG_SPACE(sizeof(int));
  ASSERT_GT(::sendmsg(ends[0], &message, 0), 0);
  EXPECT_FALSE(receive_packet(ends[1]));
  EXPECT_EQ(open_descriptors(), before);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(InheritedSockets, GivesEachShareItsPartAndEverySocketOnce) {
  const ListeningSocket socket, other;
  net::InheritedSockets inherited;
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(inherited.add(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)));
  ASSERT_TRUE(inherited.add(::fcntl(other.get(), F_DUPFD_CLOEXEC, 0)));
  const std::vector<int> first = inherited.take(socket.where(), 0, 2),
                         second = inherited.take(socket.where(), 1, 2);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(second.size(), 2u);
  EXPECT_TRUE(inherited.take(socket.where(), 0, 1).empty());
  close_all(first);
  close_all(second);
}

TEST(InheritedSockets, TakesNothingThatDoesNotListen) {
  const std::size_t before = open_descriptors();
  net::InheritedSockets inherited;
  EXPECT_FALSE(inherited.add(::socket(AF_INET, SOCK_STREAM, 0)));
  EXPECT_FALSE(inherited.add(::socket(AF_INET, SOCK_DGRAM, 0)));
  EXPECT_FALSE(inherited.add(::open("/dev/null", O_RDONLY)));
  EXPECT_EQ(open_descriptors(), before);
}

asio::awaitable<void> accept_one(net::Listener& listener, bool& accepted) {
  const auto got = co_await listener.accept();
  accepted = got.has_value();
}

TEST(InheritedSockets, AListenerHasTheClientsThatWaitedInTheOtherProcess) {
  asio::io_context io(1);
  auto socket = std::make_unique<ListeningSocket>();
  net::InheritedSockets inherited;
  ASSERT_TRUE(inherited.add(::fcntl(socket->get(), F_DUPFD_CLOEXEC, 0)));
  const int client = socket->connect();
  net::ListenerSettings settings;
  settings.address = "127.0.0.1";
  settings.port = socket->port();
  settings.inherited = &inherited;
  std::string problem;
  auto listeners = net::Listener::open(io.get_executor(), settings, problem);
  ASSERT_TRUE(listeners) << problem;
  ASSERT_EQ(listeners->size(), 1u);
  socket.reset();  // the other process lets go
  bool accepted = false;
  asio::co_spawn(io, accept_one(listeners->front(), accepted), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  EXPECT_TRUE(accepted);
  ::close(client);
}

TEST(InheritedSockets, WhatNobodyWantedLosesItsSocketFile) {
  asio::io_context io(1);
  std::array<char, 32> folder{"/tmp/sluice-inherit-XXXXXX"};
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  net::ListenerSettings settings;
  settings.address = std::string(folder.data()) + "/s";
  std::string problem;
  auto listeners = net::Listener::open(io.get_executor(), settings, problem);
  ASSERT_TRUE(listeners) << problem;
  listeners->front().own_file(false);
  net::InheritedSockets inherited;
  ASSERT_TRUE(inherited.add(::fcntl(listeners->front().descriptor(), F_DUPFD_CLOEXEC, 0)));
  listeners->clear();
  EXPECT_TRUE(std::filesystem::exists(settings.address));
  inherited.abandon_rest();
  EXPECT_FALSE(std::filesystem::exists(settings.address));
  std::filesystem::remove_all(folder.data());
}

}  // namespace
}  // namespace sluice::service
