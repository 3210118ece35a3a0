#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sluice::protocol::test {

// How a PostgreSQL server answers a frontend stream, message by message: an independent second opinion for
// the tracker. It executes toy statements of one letter:
//   s SELECT with rows   b BEGIN   o COMMIT   e an error   n a NOTICE and success   k COPY TO STDOUT
//   c COPY FROM STDIN    v COPY FROM STDIN that fails at once behind its CopyInResponse (a view)
//   x COPY FROM STDIN that fails at its second CopyData
// A Query runs each letter of its text, Parse takes one; an Execute with a row limit suspends the portal.
class BackendModel {
 public:
  // One whole frontend message. Its answers are appended to output().
  void consume(char type, std::string_view text, bool limited = false);

  const Bytes& output() const { return output_; }
  std::size_t answers() const { return answers_; }  // messages in output(), asynchronous ones not counted
  // The session rests: nothing begun that only the client or the server itself can end.
  bool at_rest() const { return !ignore_till_sync_ && !batch_open_ && copy_ == 0; }
  bool dead() const { return dead_; }

 private:
  void run_query(std::string_view rest);
  bool run_statement(char statement);  // false: an error, or a COPY that now waits for its data
  void copy_message(char type);
  void finish_copy();
  void error(const char* severity, const char* sqlstate);
  void ready();
  void answer(char type, std::string_view body = {});

  Bytes output_;
  std::size_t answers_ = 0;
  char status_ = 'I';
  bool ignore_till_sync_ = false;
  bool extended_ = false;  // the message at work belongs to the extended protocol
  bool batch_open_ = false;
  bool dead_ = false;
  char copy_ = 0;  // the COPY statement that reads its data, 0 = none
  int copy_rows_ = 0;
  std::string rest_of_query_;  // what a Query still has to run after its COPY
  char statement_ = 's';
  char portal_ = 's';
};

}  // namespace sluice::protocol::test
