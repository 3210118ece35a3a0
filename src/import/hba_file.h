#pragma once

#include <string>
#include <vector>

#include "import/ini.h"

namespace sluice::import {

inline constexpr std::size_t kHbaLinesMax = 10'000;
inline constexpr std::size_t kHbaDepthMax = 10;     // of files that name files
inline constexpr std::size_t kHbaNamesMax = 1'000;  // of one column, those of its files included

// A name of a column. One in quotes is a name and no keyword.
struct HbaWord {
  std::string text;
  bool quoted = false;
  bool is(std::string_view keyword) const { return !quoted && text == keyword; }
};
using HbaColumn = std::vector<HbaWord>;  // what commas stand between; not empty

struct HbaLine {
  Place place;
  std::vector<HbaColumn> columns;
};

struct HbaFile {
  std::vector<HbaLine> lines;  // those with something in them
  std::vector<Note> problems;  // what makes the rest untrustworthy; not empty: refuse
};

// The columns of PgBouncer's auth_hba_file, which has PostgreSQL's form: blanks between columns, commas
// between names, "names in quotes" in which "" is one quote, comments behind #, and @FILE for the names in a
// file beside it, which may name others.
HbaFile read_hba(const std::string& path, const ReadFile& read);

}  // namespace sluice::import
