#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "profile/contents.h"
#include "profile/layout.h"
#include "shm/descriptor.h"
#include "shm/file_records.h"

namespace sluice::shm {

// A profile's file as a reader sees it. Nothing need be there when the reader is made: each read() looks
// again, so a writer may start later, end, and start again (it renames a new file into place, which read()
// then opens).
//
// Never blocks and never waits: a read is a few system calls and copies, fit for an event loop's thread once
// a second. Nobody who cuts the file off, replaces it or dies over it can do more than make a read fail.
// Errors: std::errc::no_such_file_or_directory and others of the kernel; profile::ProfileErrc. After Busy
// keep what
//         the last read gave and try again later. An old profile is no error: judge its ages and
//         writer_state().
// Thread: one at a time.
class ProfileReader {
 public:
  explicit ProfileReader(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }
  Result<profile::Profile> read();

 private:
  Result<void> open();

  std::string path_;
  Descriptor file_;
  FileRecords records_;
  std::uint64_t device_ = 0, inode_ = 0;
};

// Why a profile cannot be read and what to do about it, for people: one sentence that names the path.
std::string profile_problem(const std::string& path, const Error& error);

}  // namespace sluice::shm
