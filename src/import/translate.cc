#include "import/translate.h"

#include <algorithm>

#include "import/parts.h"

namespace sluice::import {
namespace {

// One line, whatever a file's name or a key holds.
std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

}  // namespace

std::string to_string(const Note& note) {
  std::string out;
  if (!note.place.file.empty()) out += note.place.file + ":";
  if (note.place.line > 0) out += std::to_string(note.place.line) + ":";
  if (!out.empty()) out += " ";
  if (!note.key.empty()) out += note.key + ": ";
  return one_line(out + note.text);
}

void Output::note(const Place& place, std::string key, std::string text) {
  notes.push_back({place, std::move(key), std::move(text)});
  line("# " + to_string(notes.back()));
}

Translation translate(const Sources& sources, const ReadFile& read) {
  Translation translation;
  const Ini ini = read_ini(sources.ini_path, read);
  if (!ini.problems.empty()) {
    translation.problems = ini.problems;
    return translation;
  }
  if (ini.entries.empty()) {
    translation.problems.push_back({{sources.ini_path, 0}, "", "holds no settings"});
    return translation;
  }
  const Settings settings(ini);
  Output out;
  out.line(one_line("# Translated from " + sources.ini_path +
                    ". Lines that begin with # and a place are what has no"));
  out.line("# equivalent, or another meaning; `sluice check -c FILE` judges the rest.");
  out.line("");
  translate_settings(settings, sources, out);
  out.line("");
  translate_databases(ini, settings, out);
  translate_rest(ini, out);
  translation.yaml = std::move(out.yaml);
  translation.notes = std::move(out.notes);
  return translation;
}

}  // namespace sluice::import
