#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace sluice::demo {

enum class Afterwards { Remove, Keep };

// The demo's temporary folder. A small process of its own waits for the end of the demo, whatever that was
// (even SIGKILL), and removes the folder then; the destructor waits for it.
class Folder {
 public:
  explicit Folder(Afterwards afterwards);  // throws Failure
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  // Writes a file that only this user may read.
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
  int alive_ = -1;  // closed by the kernel when we are gone
  pid_t remover_ = -1;
};

}  // namespace sluice::demo
