#include "import/translate.h"

#include "base/text.h"
#include "import/parts.h"

namespace sluice::import {

// One line, whatever a file's name or a key holds.
std::string to_string(const Note& note) {
  std::string out;
  if (!note.place.file.empty()) out += note.place.file + ":";
  if (note.place.line > 0) out += std::to_string(note.place.line) + ":";
  if (!out.empty()) out += " ";
  if (!note.key.empty()) out += note.key + ": ";
  return without_controls(out + note.text);
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
  out.line(without_controls("# Translated from " + sources.ini_path +
                            ". Lines that begin with # and a place are what has no"));
  out.line("# equivalent, or another meaning; `sluice check -c FILE` judges the rest.");
  out.line("");
  translate_settings(settings, sources, out);
  out.line("");
  translate_hba(settings, read, out, translation.problems);
  if (!translation.problems.empty()) return translation;
  translate_databases(ini, settings, out);
  translate_rest(ini, out);
  translation.yaml = std::move(out.yaml);
  translation.notes = std::move(out.notes);
  return translation;
}

}  // namespace sluice::import
