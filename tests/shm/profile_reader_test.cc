#include <atomic>
#include <thread>

#include "profile/layout.h"
#include "profile/profile_error.h"
#include "tests/shm/profile_file.h"

namespace sluice::shm {
namespace {

using profile::ProfileErrc;

class ForeignFile : public ProfileFile {};

TEST_F(ForeignFile, IsRefusedWithASentence) {
  ProfileReader reader(path);
  for (const std::string_view text : {"", "S", "hello, this is a text and no profile", "SLUICEPF"}) {
    folder.write("sluice.profile", text);
    const auto profile = reader.read();
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().code, text == "SLUICEPF" ? ProfileErrc::Truncated : ProfileErrc::NotAProfile)
        << text;
    EXPECT_TRUE(profile_problem(path, profile.error()).starts_with(path + ": ")) << text;
  }
}

TEST_F(ForeignFile, ThatIsNoFileIsRefusedAndHoldsNobodyUp) {
  ProfileReader folder_reader(folder.path("."));
  EXPECT_EQ(error_of_read(folder_reader), ProfileErrc::NotAProfile);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ProfileReader pipe(path);
  EXPECT_EQ(error_of_read(pipe), ProfileErrc::NotAProfile);
  ProfileReader device("/dev/zero");
  EXPECT_EQ(error_of_read(device), ProfileErrc::NotAProfile);
}

TEST_F(ProfileFile, CutAtAnyLengthIsRefused) {
  {
    ProfileWriter one = writer();
    publish(one, sample_contents());
  }
  const auto size = status_of(path).st_size;
  ProfileReader reader(path);
  // Each 8 bytes of the header, and then coarser.
  for (off_t cut = size - 1; cut >= 0; cut -= cut > 1000 ? 997 : 8) {
    ASSERT_EQ(::truncate(path.c_str(), cut), 0);
    EXPECT_EQ(error_of_read(reader), cut < 8 ? ProfileErrc::NotAProfile : ProfileErrc::Truncated) << cut;
  }
}

// Another process cuts the file off and lets it grow again all the time: a mapped reader would be killed.
TEST_F(ProfileFile, CutWhileItIsReadOnlyMakesReadsFail) {
  {
    ProfileWriter one = writer();
    publish(one, sample_contents());
  }
  const auto size = status_of(path).st_size;
  std::atomic<bool> done{false};
  std::thread cutter([&] {
    while (!done)
      if (::truncate(path.c_str(), 400) != 0 || ::truncate(path.c_str(), size) != 0) break;
  });
  ProfileReader reader(path);
  for (int i = 0; i < 2000; ++i)
    (void)error_of_read(reader);
  done = true;
  cutter.join();
}

TEST_F(ProfileFile, OfALaterIncompatibleLayoutIsRefusedClearly) {
  {
    ProfileWriter one = writer();
    publish(one, sample_contents());
  }
  const int file = ::open(path.c_str(), O_RDWR);
  const std::uint32_t later[2] = {7, 7};
  ASSERT_EQ(::pwrite(file, later, sizeof later, 8), 8);
  ::close(file);
  ProfileReader reader(path);
  const auto profile = reader.read();
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ProfileErrc::Incompatible);
  EXPECT_NE(profile_problem(path, profile.error()).find("update this program"), std::string::npos);
}

// Every record of a publication carries its round.
profile::Contents of_round(std::uint64_t round) {
  profile::Contents c = sample_contents(round);
  for (auto& host : c.hosts)
    host.client_leg = host.client_leg_min = host.path = profile::Nanos(round), host.samples = round;
  for (auto& route : c.routes)
    route.n_serial_mean = route.n_serial_p90 = static_cast<double>(round), route.requests = round;
  return c;
}

TEST_F(ProfileFile, UnderAHammeringWriterHasNoTornRecord) {
  ProfileWriter one = writer();
  publish(one, of_round(1));
  std::atomic<bool> done{false};
  std::uint64_t torn = 0, good = 0;
  std::thread reading([&] {
    ProfileReader reader(path);
    for (int tries = 0; good < 500 && tries < 200'000; ++tries) {
      const auto profile = reader.read();
      if (!profile) {
        if (profile.error().code != ProfileErrc::Busy) ++torn;
        std::this_thread::yield();
        continue;
      }
      ++good;
      for (const auto& h : profile->contents.hosts)
        if (h.client_leg_min != h.client_leg || h.path != h.client_leg ||
            h.samples != static_cast<std::uint64_t>(h.client_leg.count()))
          ++torn;
      for (const auto& r : profile->contents.routes)
        if (r.n_serial_mean != r.n_serial_p90 || r.n_serial_mean != static_cast<double>(r.requests)) ++torn;
    }
    done = true;
  });
  for (std::uint64_t round = 2; !done; ++round)
    publish(one, of_round(round));
  reading.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(good, 500u);
}

TEST(ProfileProblems, SayWhatToDo) {
  const auto about = [](auto code) { return profile_problem("/p", Error(make_error_code(code))); };
  EXPECT_NE(about(std::errc::no_such_file_or_directory).find("profile_path"), std::string::npos);
  EXPECT_NE(about(std::errc::permission_denied).find("profile_mode"), std::string::npos);
  EXPECT_NE(about(ProfileErrc::NotAProfile).find("is the path right?"), std::string::npos);
  EXPECT_NE(about(ProfileErrc::Busy).find("start the writer again"), std::string::npos);
  EXPECT_NE(about(ProfileErrc::Truncated).find("cut off"), std::string::npos);
}

}  // namespace
}  // namespace sluice::shm
