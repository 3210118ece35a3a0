#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "decide/run.h"

namespace sluice::decide {

inline const char* const kFiveReplicas =
    R"({"op":"config","policy":"plb","classes":[)"
    R"({"name":"premium","saturation":10,"return_ratio":"0.60","floor":0,"target":2},)"
    R"({"name":"freemium","saturation":10,"return_ratio":"0.80","floor":1,"target":2}],)"
    R"("replicas":["r0","r1","r2","r3","r4"]})";

struct Driven {
  RunResult result;
  std::vector<std::string> lines;
  std::string error;
};

// Runs the given lines through decide.
inline Driven drive(const std::vector<std::string>& input) {
  std::string text;
  for (const std::string& line : input)
    text += line + "\n";
  std::istringstream in(text);
  std::ostringstream out, err;
  Driven driven;
  driven.result = run(in, out, err);
  std::istringstream written(out.str());
  for (std::string line; std::getline(written, line);)
    driven.lines.push_back(line);
  driven.error = err.str();
  return driven;
}

}  // namespace sluice::decide
