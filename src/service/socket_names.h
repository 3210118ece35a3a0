#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sluice::service {

// Keeps Unix sockets reachable whose files another process may still remove: each file gets a second name
// beside it, by which the first is made anew. A socket is found by any name that its file has, so nothing is
// bound again and nobody who waits in it is lost.
// Errors: a file that cannot be given a second name goes without; where that is for want of a right to the
//         folder, nobody else can remove it either.
// Lifetime: the second names go with the object; a process that is killed leaves them.
class SocketNames {
 public:
  explicit SocketNames(const std::vector<std::string>& files);
  SocketNames(const SocketNames&) = delete;
  SocketNames& operator=(const SocketNames&) = delete;
  ~SocketNames();

  // The others are no concern any more.
  void keep_only(const std::vector<std::string>& files);
  // Makes the files that are missing anew, and gives them. One that is there by now, whoever's it is, stays.
  std::vector<std::string> restore();

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // the first, and the second
};

}  // namespace sluice::service
