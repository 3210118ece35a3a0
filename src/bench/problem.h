#pragma once

#include <stdexcept>
#include <string>

namespace sluice::bench {

// What somebody wrote and what is wrong with it: "query_03.sql:4: unknown parameter :segmnt".
struct Problem {
  std::string file;
  std::size_t line = 0;  // from 1; 0: the file as a whole
  std::string message;

  std::string text() const { return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + message; }
};

// The command cannot go on; what() says what happened and what to do, for a person.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sluice::bench
