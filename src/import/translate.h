#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/ini.h"

namespace sluice::import {

struct Sources {
  std::string ini_path;
  std::optional<std::string> userlist_path;  // instead of auth_file
};

struct Translation {
  std::string yaml;  // a configuration of the router; empty where there are problems
  std::vector<Note>
      notes;  // what has no equivalent or another meaning, in the order of the files; also in the YAML
  std::vector<Note> problems;  // why nothing could be translated
};

// A configuration of PgBouncer's as one of Sluice's. What both have under the same name, with the same
// meaning, is taken over from the table of options; the rest is in settings.cc and databases.cc.
Translation translate(const Sources& sources, const ReadFile& read);

// "pgbouncer.ini:12: logfile: ..."
std::string to_string(const Note& note);

}  // namespace sluice::import
