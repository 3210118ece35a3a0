#include "service/socket_names.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/succession.h"
#include "service/takeover_channel.h"

namespace sluice::service {
namespace {

// A Unix socket at `path`; -1 for none.
int unix_socket(const std::string& path, int (*use)(int, const sockaddr*, socklen_t)) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (use(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

class SocketFiles : public testing::Test {
 protected:
  SocketFiles() {
    std::array<char, 32> folder{"/tmp/sluice-names-XXXXXX"};
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder.data();
  }
  ~SocketFiles() override {
    for (const int fd : open_)
      ::close(fd);
    std::filesystem::remove_all(folder_);
  }
  std::string listening(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    open_.push_back(unix_socket(path, ::bind));
    EXPECT_EQ(::listen(open_.back(), 4), 0);
    return path;
  }
  static bool reached(const std::string& path) {
    const int fd = unix_socket(path, ::connect);
    if (fd >= 0) ::close(fd);
    return fd >= 0;
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::string folder_;
  std::vector<int> open_;
};

TEST_F(SocketFiles, AreMadeAnewForTheSameSocket) {
  const std::string one = listening("one"), other = listening("other");
  {
    SocketNames names({one, other, folder_ + "/none"});
    EXPECT_TRUE(names.restore().empty());
    ::unlink(one.c_str());
    ASSERT_FALSE(reached(one));
    EXPECT_EQ(names.restore(), std::vector<std::string>{one});
    EXPECT_TRUE(reached(one));
    EXPECT_TRUE(names.restore().empty());
  }
  EXPECT_EQ(files(), 2U) << "no second name is left";
}

TEST_F(SocketFiles, OfAnotherProcessStay) {
  const std::string path = listening("one");
  SocketNames names({path});
  ::unlink(path.c_str());
  listening("one");
  ::close(open_.front());
  EXPECT_TRUE(names.restore().empty());
  EXPECT_TRUE(reached(path));
  open_.erase(open_.begin());
}

TEST_F(SocketFiles, ThatAreNotInUseAreLeftAlone) {
  const std::string one = listening("one"), other = listening("other");
  SocketNames names({one, other});
  names.keep_only({other});
  ::unlink(one.c_str());
  ::unlink(other.c_str());
  EXPECT_EQ(names.restore(), std::vector<std::string>{other});
}

// The former process, as far as it is heard: it gives its sockets, and ends without having read "serving".
class EndingProcess {
 public:
  EndingProcess(const std::string& point, std::vector<int> sockets)
      : point_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)), sockets_(std::move(sockets)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, point.data(), point.size());
    EXPECT_EQ(::bind(point_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(point_, 4), 0);
    thread_ = std::thread([this] {
      successor_ = ::accept4(point_, nullptr, nullptr, SOCK_CLOEXEC);
      EXPECT_TRUE(receive_packet(successor_));
      EXPECT_TRUE(send_packet(successor_, kClientSockets, sockets_));
      EXPECT_TRUE(send_packet(successor_, kEndOfSockets));
    });
  }
  // Removes what it takes for its own.
  void end(const std::vector<std::string>& files) {
    thread_.join();
    ::close(successor_);
    ::close(point_);
    for (const int fd : sockets_)
      ::close(fd);
    for (const std::string& file : files)
      ::unlink(file.c_str());
  }

 private:
  int point_, successor_ = -1;
  std::vector<int> sockets_;
  std::thread thread_;
};

// Was: nobody could connect any more to a successor of a process that was on its way out.
TEST_F(SocketFiles, ThatAFormerProcessRemovesWithoutHavingLetGoAreMadeAnew) {
  const std::string point = folder_ + "/point", taken = listening("taken"), rest = listening("rest");
  EndingProcess former(point, std::exchange(open_, {}));
  asio::io_context io;
  Succession successor(io.get_executor(), {point, {"sluice"}}, kRouterTakeover,
                       {[] { return TakeoverPoint::Sockets(); }, [] {}, [](pid_t) {}});
  ASSERT_EQ(successor.find_predecessor(), std::nullopt);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, taken.data(), taken.size());
  open_ = successor.clients()->take(net::InheritedSockets::EndPoint(&address, sizeof address), 0, 1);
  ASSERT_EQ(open_.size(), 1U);
  former.end({point, taken});
  ASSERT_FALSE(reached(taken));
  EXPECT_EQ(successor.begin(), Succession::Begun::TookOver);
  EXPECT_TRUE(reached(taken));
  EXPECT_FALSE(std::filesystem::exists(rest)) << "nobody serves there";

  // It removes them a moment later, when it comes to it.
  auto work = asio::make_work_guard(io);
  std::thread thread([&io] { io.run(); });
  ::unlink(taken.c_str());
  const auto give_up_at = std::chrono::steady_clock::now() + Succession::kFilesWatched;
  while (!reached(taken) && std::chrono::steady_clock::now() < give_up_at)
    std::this_thread::yield();
  EXPECT_TRUE(reached(taken));
  asio::co_spawn(io, successor.stop(), asio::use_future).get();
  work.reset();
  thread.join();
  EXPECT_EQ(files(), 1U) << "no second name is left, and no point";
}

}  // namespace
}  // namespace sluice::service
