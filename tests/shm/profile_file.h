#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/profile_reader.h"
#include "shm/profile_writer.h"
#include "tests/config/temporary_folder.h"
#include "tests/profile/sample.h"

namespace sluice::shm {

using profile::sample_contents;

// A folder with a profile's path in it.
class ProfileFile : public ::testing::Test {
 protected:
  ProfileWriter writer() {
    std::string problem;
    auto opened = ProfileWriter::open({path, 0640, std::chrono::seconds(1)}, problem);
    EXPECT_TRUE(opened) << problem;
    return *std::move(opened);
  }
  void publish(ProfileWriter& to, const profile::Contents& contents) {
    std::string problem;
    EXPECT_TRUE(to.publish(contents, std::chrono::steady_clock::now(), problem)) << problem;
  }
  std::error_code error_of_read(ProfileReader& reader) {
    const auto profile = reader.read();
    return profile ? std::error_code() : profile.error().code;
  }
  static struct stat status_of(const std::string& of) {
    struct stat status {};
    EXPECT_EQ(::stat(of.c_str(), &status), 0) << of;
    return status;
  }

  config::TemporaryFolder folder;
  const std::string path = folder.path("sluice.profile");
};

}  // namespace sluice::shm
