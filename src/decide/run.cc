#include "decide/run.h"

#include <istream>
#include <ostream>
#include <string>

#include "base/text.h"
#include "decide/engine.h"
#include "decide/json_line.h"

namespace sluice::decide {
namespace {

enum class ReadResult { Line, TooLong, End };

// getline with a limit. The last line may lack its end.
ReadResult read_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& buffer = *in.rdbuf();
  for (int c = buffer.sbumpc(); c != std::char_traits<char>::eof(); c = buffer.sbumpc()) {
    if (c == '\n') return ReadResult::Line;
    if (line.size() == kLineBytesMax) return ReadResult::TooLong;
    line.push_back(static_cast<char>(c));
  }
  return line.empty() ? ReadResult::End : ReadResult::Line;
}

Applied apply_line(Engine& engine, const std::string& line) {
  const JsonLine read = parse_json_line(line);
  if (!read.problem.empty()) return {std::nullopt, read.problem};
  const ParsedEvent parsed = parse_event(read.value);
  if (!parsed.problem.empty()) return {std::nullopt, parsed.problem};
  return engine.apply(parsed.event);
}

// Names from a file may be in no valid encoding.
std::string text_of(const OutputLine& line) {
  return line.dump(-1, ' ', false, OutputLine::error_handler_t::replace);
}

// Names in a reason come from the input; whatever they hold, the message stays one line of moderate length.
std::string one_line(std::string reason) {
  constexpr std::size_t kReasonBytesMax = 500;
  if (reason.size() > kReasonBytesMax) reason = reason.substr(0, kReasonBytesMax) + "...";
  return without_controls(reason);
}

}  // namespace

RunResult run(std::istream& in, std::ostream& out, std::ostream& err,
              const std::optional<policy::PoolConfig>& initial) {
  Engine engine = initial ? Engine(*initial) : Engine();
  std::string line;
  for (std::uint64_t number = 1;; ++number) {
    const ReadResult read = read_line(in, line);
    if (read == ReadResult::End) break;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Applied applied =
        read == ReadResult::TooLong
            ? Applied{std::nullopt, "longer than " + std::to_string(kLineBytesMax) + " bytes"}
            : apply_line(engine, line);
    if (!applied.problem.empty()) {
      err << "line " << number << ": " << one_line(applied.problem) << std::endl;
      return RunResult::BadLine;
    }
    if (applied.line) out << text_of(*applied.line) << std::endl;
    if (!out) return RunResult::OutputFailed;
  }
  out << text_of(engine.state()) << std::endl;
  return out ? RunResult::Complete : RunResult::OutputFailed;
}

}  // namespace sluice::decide
