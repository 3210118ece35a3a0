#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/problem.h"

// What the printed documents of router and placer have in common: pieces made from rows.
namespace sluice::config {

inline constexpr std::string_view kRedacted = "***";

// One line per paragraph of at most `width` columns behind `prefix`.
inline std::string wrapped(std::string_view text, const std::string& prefix, std::size_t width) {
  std::string out;
  std::string line = prefix;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == text.npos ? std::string_view() : text.substr(space + 1);
    if (line.size() > prefix.size() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = prefix;
    }
    line += (line.size() > prefix.size() ? " " : "") + std::string(word);
  }
  return out + line + "\n";
}

inline constexpr std::size_t kSampleWidth = 100;

template <class R>
void append_sample_fields(std::string& out) {
  static const R defaults{};
  for (const Field<R>& field : fields_of<R>()) {
    const bool required = field.presence == Presence::Required;
    const std::string text = field.print(defaults);
    std::string line =
        std::string(field.key) + ": " + std::string(field.help) + " (" + field.expects(field.limits);
    if (required) line += ", required";
    if (!required && text != "\"\"" && text != "[]") line += ", default " + text;
    out += wrapped(line + ")", "#   ", kSampleWidth);
  }
}

template <class R>
void append_reference_fields(std::string& out) {
  static const R defaults{};
  out += "| key | value | default | what |\n| --- | --- | --- | --- |\n";
  for (const Field<R>& field : fields_of<R>()) {
    const std::string text = field.print(defaults);
    const bool required = field.presence == Presence::Required;
    const bool empty = text == "\"\"" || text == "[]";
    out += "| `" + std::string(field.key) + "` | " + field.expects(field.limits) + " | " +
           (required ? "required"
            : empty  ? ""
                     : "`" + text + "`") +
           " | " + std::string(field.help) + " |\n";
  }
}

// Every option, commented out, under its group.
template <class O>
void append_sample_options(std::string& out) {
  static const O defaults{};
  std::string_view group;
  for (const Field<O>& field : fields_of<O>()) {
    if (field.group != group) {
      group = field.group;
      out += "\n# ---- " + std::string(group) + " " + std::string(88 - group.size(), '-') + "\n";
    }
    std::string about = std::string(field.help) + " (" + field.expects(field.limits);
    if (field.apply == Apply::Restart) about += "; takes a restart";
    out += "\n" + wrapped(about + ")", "# ", kSampleWidth);
    out += "#" + std::string(field.key) + ": " + field.print(defaults) + "\n";
  }
}

template <class O>
void append_reference_options(std::string& out) {
  static const O defaults{};
  std::string_view group;
  for (const Field<O>& field : fields_of<O>()) {
    if (field.group != group) {
      group = field.group;
      out += "\n## " + std::string(group) +
             "\n\n| key | value | default | takes effect | what |\n| --- | --- | --- | --- | --- |\n";
    }
    const std::string text = field.print(defaults);
    out += "| `" + std::string(field.key) + "` | " + field.expects(field.limits) + " | " +
           (text == "\"\"" || text == "[]" ? "" : "`" + text + "`") + " | " +
           (field.apply == Apply::Restart ? "restart" : "reload") + " | " + std::string(field.help) + " |\n";
  }
}

template <class O>
void append_effective_options(std::string& out, const O& options) {
  std::string_view group;
  for (const Field<O>& field : fields_of<O>()) {
    if (field.group != group) out += (out.empty() ? "# " : "\n# ") + std::string(group = field.group) + "\n";
    const std::string text = field.print(options);
    const bool hidden = field.secrecy == Secrecy::Secret && text != "\"\"";
    out += std::string(field.key) + ": " + (hidden ? std::string(kRedacted) : text) + "\n";
  }
}

template <class R>
void append_list(std::string& out, std::string_view key, const std::vector<R>& records) {
  out += std::string(key) + ":";
  if (records.empty()) out += " []";
  out += "\n";
  for (const R& record : records)
    out += "  - " + print_record(record) + "\n";
}

// Every problem on a line of its own, then a line of summary.
inline std::string problem_report(const Problems& problems, const std::string& path) {
  std::string out;
  std::size_t errors = 0;
  for (const Problem& problem : problems) {
    out += to_string(problem) + "\n";
    errors += problem.severity == Severity::Error ? 1 : 0;
  }
  const std::size_t warnings = problems.size() - errors;
  const auto counted = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  out += path + ": " + counted(errors, "error") + ", " + counted(warnings, "warning") + "\n";
  return out;
}

}  // namespace sluice::config
