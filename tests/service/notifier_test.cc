#include "service/notifier.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace sluice::service {
namespace {

// What a service manager has: a datagram socket, on a path in a folder of its own or on an abstract name.
class Manager {
 public:
  enum class Name { Path, Abstract };

  explicit Manager(Name name) {
    std::array<char, 32> folder{"/tmp/sluice-notify-XXXXXX"};
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder.data();
    address_ = (name == Name::Abstract ? "@" : "") + folder_ + "/socket";
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    std::memcpy(own.sun_path, address_.data(), address_.size());
    if (name == Name::Abstract) own.sun_path[0] = '\0';
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&own), size), 0);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() {
    ::close(socket_);
    ::unlink(address_.c_str());
    ::rmdir(folder_.c_str());
  }

  const std::string& address() const { return address_; }
  // The datagrams that are there.
  std::vector<std::string> heard() {
    std::vector<std::string> all;
    std::array<char, 4096> room{};
    for (ssize_t size = 0; (size = ::recv(socket_, room.data(), room.size(), 0)) >= 0;)
      all.emplace_back(room.data(), static_cast<std::size_t>(size));
    return all;
  }

 private:
  std::string folder_, address_;
  int socket_ = -1;
};

// Variables of the environment as long as it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

using Lines = std::vector<std::string>;

TEST(Notifier, SaysWhatSdNotifySaysOnAPathAndOnAnAbstractName) {
  for (const auto name : {Manager::Name::Path, Manager::Name::Abstract}) {
    Manager manager(name);
    Notifier notifier(manager.address());
    ASSERT_TRUE(notifier.active());
    notifier.ready("1 session");
    notifier.alive();
    notifier.stopping("going");
    EXPECT_EQ(manager.heard(),
              (Lines{"READY=1\nSTATUS=1 session", "WATCHDOG=1", "STOPPING=1\nSTATUS=going"}));
  }
}

TEST(Notifier, AReloadCarriesTheMonotonicTimeInMicroseconds) {
  Manager manager(Manager::Name::Path);
  timespec before{}, after{};
  Notifier notifier(manager.address());
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  notifier.reloading();
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  const Lines heard = manager.heard();
  ASSERT_EQ(heard.size(), 1u);
  const std::string prefix = "RELOADING=1\nMONOTONIC_USEC=";
  ASSERT_TRUE(heard[0].starts_with(prefix)) << heard[0];
  const long long usec = std::stoll(heard[0].substr(prefix.size()));
  EXPECT_GE(usec, before.tv_sec * 1'000'000LL + before.tv_nsec / 1000);
  EXPECT_LE(usec, after.tv_sec * 1'000'000LL + after.tv_nsec / 1000);
}

TEST(Notifier, AStatusIsSentWhenItDiffersAndIsOneLine) {
  Manager manager(Manager::Name::Path);
  Notifier notifier(manager.address());
  notifier.ready("a");
  notifier.status("a");
  notifier.status("b\nREADY=1");
  notifier.status("b\nREADY=1");
  EXPECT_EQ(manager.heard(), (Lines{"READY=1\nSTATUS=a", "STATUS=b READY=1"}));
}

TEST(Notifier, ALongStatusIsCutBetweenCharacters) {
  Manager manager(Manager::Name::Path);
  Notifier notifier(manager.address());
  std::string text(Notifier::kStatusBytesMax - 1, 'x');
  notifier.status(text + "\u00e9");  // two bytes, of which one would fit
  EXPECT_EQ(manager.heard(), Lines{"STATUS=" + text});
}

TEST(Notifier, IsSilentOnceTheServiceIsAnotherProcess) {
  Manager manager(Manager::Name::Path);
  Notifier notifier(manager.address());
  notifier.hand_over_to(4711);
  notifier.alive();
  notifier.stopping("old");
  EXPECT_EQ(manager.heard(), Lines{"MAINPID=4711"});
  EXPECT_FALSE(notifier.active());
}

TEST(Notifier, AFullQueueCostsNoTimeForWhatIsRepeated) {
  Manager manager(Manager::Name::Path);
  Notifier notifier(manager.address());
  for (int i = 0; i < 10'000; ++i)
    notifier.alive();
  EXPECT_LT(manager.heard().size(), 10'000u);
}

TEST(Notifier, AManagerThatIsGoneOrNoAddressIsNoTrouble) {
  std::string address;
  {
    const Manager manager(Manager::Name::Path);
    address = manager.address();
  }
  Notifier gone(address);
  gone.ready("x");
  gone.alive();
  const Lines addresses{"", "/", "@", "relative", "vsock:2:1", "/" + std::string(200, 'x')};
  for (const std::string& bad : addresses) {
    Notifier none(bad);
    EXPECT_FALSE(none.active()) << bad;
    none.ready("x");
  }
}

TEST(Notifier, TakesAddressAndWatchdogFromTheEnvironment) {
  Manager manager(Manager::Name::Abstract);
  EXPECT_FALSE(Notifier::from_environment().active());
  const Environment socket("NOTIFY_SOCKET", manager.address());
  EXPECT_EQ(Notifier::from_environment().watchdog(), std::nullopt);
  const Environment period("WATCHDOG_USEC", "3000000");
  EXPECT_EQ(Notifier::from_environment().watchdog(), std::chrono::seconds(3));
  {
    const Environment own("WATCHDOG_PID", std::to_string(::getpid()));
    EXPECT_EQ(Notifier::from_environment().watchdog(), std::chrono::seconds(3));
  }
  const Environment other("WATCHDOG_PID", "1");
  EXPECT_EQ(Notifier::from_environment().watchdog(), std::nullopt);
}

TEST(Notifier, AWatchdogPeriodThatIsNoneIsNotTaken) {
  Manager manager(Manager::Name::Abstract);
  const Environment socket("NOTIFY_SOCKET", manager.address());
  for (const char* const bad : {"", "0", "-1", "x", "1x", "99999999999999999999999"}) {
    const Environment period("WATCHDOG_USEC", bad);
    EXPECT_EQ(Notifier::from_environment().watchdog(), std::nullopt) << bad;
  }
  const Environment period("WATCHDOG_USEC", "18446744073709551615");  // "infinity"
  EXPECT_EQ(Notifier::from_environment().watchdog(), std::chrono::hours(24));
}

}  // namespace
}  // namespace sluice::service
