#include "tests/shm/profile_file.h"

#include <thread>

#include "profile/layout.h"
#include "profile/profile_error.h"

namespace sluice::shm {
namespace {

using profile::ProfileErrc;

TEST_F(ProfileFile, AppearsWholeWithTheFirstPublication) {
  ProfileReader reader(path);
  EXPECT_EQ(error_of_read(reader), std::errc::no_such_file_or_directory);
  ProfileWriter one = writer();
  EXPECT_EQ(error_of_read(reader), std::errc::no_such_file_or_directory);
  publish(one, sample_contents());
  const auto profile = reader.read();
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->contents, sample_contents());
  EXPECT_EQ(profile->publication.writer_pid, ::getpid());
  EXPECT_EQ(profile::writer_state(profile->publication, std::chrono::steady_clock::now()),
            profile::WriterState::Alive);
}

TEST_F(ProfileFile, HasThePermissionsAskedForWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  ProfileWriter one = writer();
  publish(one, sample_contents());
  ::umask(before);
  EXPECT_EQ(status_of(path).st_mode & 07777, 0640u);
}

TEST_F(ProfileFile, HasOneWriter) {
  ProfileWriter one = writer();
  std::string problem;
  EXPECT_FALSE(ProfileWriter::open({path, 0644, std::chrono::seconds(1)}, problem));
  EXPECT_NE(problem.find(path + " is written by process " + std::to_string(::getpid())), problem.npos)
      << problem;
}

TEST_F(ProfileFile, TellsWhereItCannotBeMade) {
  std::string problem;
  EXPECT_FALSE(ProfileWriter::open({folder.path("none/x"), 0644, std::chrono::seconds(1)}, problem));
  EXPECT_NE(problem.find("none/x.lock"), problem.npos) << problem;
  // The path is a folder that is not empty: the rename fails, and nothing is left behind.
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((path + "/inner").c_str(), 0700), 0);
  ProfileWriter one = writer();
  EXPECT_FALSE(one.publish(sample_contents(), {}, problem));
  EXPECT_NE(problem.find("cannot rename"), problem.npos) << problem;
  EXPECT_NE(::access((path + ".new").c_str(), F_OK), 0);
  ASSERT_EQ(::rmdir((path + "/inner").c_str()), 0);
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  publish(one, sample_contents());
}

TEST_F(ProfileFile, IsNotWrittenThroughALinkThatSomebodyLeftUnderTheTemporaryName) {
  const std::string victim = folder.write("victim", "precious");
  ASSERT_EQ(::symlink(victim.c_str(), (path + ".new").c_str()), 0);
  ProfileWriter one = writer();
  publish(one, sample_contents());
  EXPECT_EQ(status_of(victim).st_size, 8);
}

TEST_F(ProfileFile, LivesOnAsClosedAfterItsWriter) {
  ProfileReader reader(path);
  {
    ProfileWriter one = writer();
    publish(one, sample_contents());
  }
  const auto profile = reader.read();
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->publication.closed);
  EXPECT_EQ(profile->contents, sample_contents());
}

TEST_F(ProfileFile, IsAnotherGenerationAfterARestart) {
  ProfileReader reader(path);
  {
    ProfileWriter one = writer();
    publish(one, sample_contents(1));
  }
  const auto first = reader.read();
  ProfileWriter two = writer();
  publish(two, sample_contents(2));
  const auto second = reader.read();
  ASSERT_TRUE(first && second);
  EXPECT_NE(second->publication.generation, first->publication.generation);
  EXPECT_FALSE(second->publication.closed);
  EXPECT_EQ(second->contents, sample_contents(2));
}

TEST_F(ProfileFile, IsMadeAnewWhenContentsOutgrowIt) {
  ProfileReader reader(path);
  ProfileWriter one = writer();
  publish(one, sample_contents());
  const auto small = reader.read();
  profile::Contents large = sample_contents();
  large.routes.resize(300, large.routes.front());
  large.hosts.resize(20, large.hosts.front());
  fit_matrices(large);
  publish(one, large);
  const auto grown = reader.read();
  ASSERT_TRUE(small && grown);
  EXPECT_EQ(grown->contents, large);
  EXPECT_GT(grown->publication.generation, small->publication.generation);
}

TEST_F(ProfileFile, IsPutBackByItsWriterWhenSomebodyRemovedOrCutIt) {
  ProfileReader reader(path);
  ProfileWriter one = writer();
  publish(one, sample_contents(1));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  one.beat();
  EXPECT_EQ(error_of_read(reader), std::errc::no_such_file_or_directory);
  publish(one, sample_contents(2));
  EXPECT_EQ(reader.read()->contents, sample_contents(2));
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  one.beat();
  EXPECT_EQ(error_of_read(reader), ProfileErrc::Truncated);
  publish(one, sample_contents(3));
  EXPECT_EQ(reader.read()->contents, sample_contents(3));
}

// As systemd does with RemoveIPC when another unit of the same user stops.
TEST_F(ProfileFile, HasOneWriterAlsoAfterSomebodyRemovedTheLockWithIt) {
  ProfileWriter one = writer();
  publish(one, sample_contents(1));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::unlink((path + ".lock").c_str()), 0);
  {
    ProfileWriter two = writer();
    publish(two, sample_contents(2));
    std::string problem;
    EXPECT_FALSE(one.publish(sample_contents(1), {}, problem));
    EXPECT_NE(problem.find("a profile has one writer"), problem.npos) << problem;
    ProfileReader reader(path);
    EXPECT_EQ(reader.read()->contents, sample_contents(2));
  }
  publish(one, sample_contents(3));
  std::string problem;
  EXPECT_FALSE(ProfileWriter::open({path, 0644, std::chrono::seconds(1)}, problem));
}

// The process that writes is killed between the two stores to a record's sequence.
TEST_F(ProfileFile, OfAWriterKilledWithinARecordIsReportedAndReplacedByTheNext) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::string problem;
    auto opened = ProfileWriter::open({path, 0640, std::chrono::seconds(1)}, problem);
    if (!opened || !opened->publish(sample_contents(1), {}, problem)) ::_exit(1);
    const int file = ::open(path.c_str(), O_RDWR);
    const std::uint64_t odd = 3;
    const auto at = static_cast<off_t>(profile::Layout::of({}).record(SLUICE_PROFILE_SERVERS, 1));
    if (::pwrite(file, &odd, sizeof odd, at) != sizeof odd) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ProfileReader reader(path);
  EXPECT_EQ(error_of_read(reader), ProfileErrc::Busy);
  EXPECT_EQ(error_of_read(reader), ProfileErrc::Busy) << "and does not spin for ever";
  ProfileWriter next = writer();  // the lock died with the process
  publish(next, sample_contents(2));
  EXPECT_EQ(reader.read()->contents, sample_contents(2));
}

}  // namespace
}  // namespace sluice::shm
