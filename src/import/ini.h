#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::import {

inline constexpr std::size_t kIniBytesMax = std::size_t{4} << 20;  // of one file
inline constexpr std::size_t kIniFilesMax = 64;                    // with those included
inline constexpr std::size_t kIniDepthMax = 10;                    // of %include, as PgBouncer
inline constexpr std::size_t kIniEntriesMax = 20'000;

struct Place {
  std::string file;
  std::uint32_t line = 0;  // from 1
};

// What people have to know about one line of the files. Never holds a password.
struct Note {
  Place place;
  std::string key;   // may be empty
  std::string text;  // one clause, without a full stop
};

// `key = value`; what stands around them is gone.
struct IniEntry {
  Place place;
  std::string section;  // lower case; "" before the first
  std::string key, value;
};

struct Ini {
  std::vector<IniEntry> entries;  // in their order, those of included files in place of the %include
  std::vector<Note> problems;     // what makes the rest untrustworthy; not empty: refuse
};

// Reads a file, or says why not. Paths of %include are handed over as they stand in the file.
struct FileRead {
  std::optional<std::string> text;
  std::string problem;
};
using ReadFile = std::function<FileRead(const std::string& path)>;

// PgBouncer's file format: sections, `key = value`, comments that begin a line with ; or #, %include.
Ini read_ini(const std::string& path, const ReadFile& read);

// The `key=value key='a value'` behind a database or a user. nullopt where it is no such list; `bad` is then
// the word at fault.
using Pairs = std::vector<std::pair<std::string, std::string>>;
std::optional<Pairs> parse_pairs(std::string_view text, std::string& bad);

}  // namespace sluice::import
