#include "bench/query_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "pooling/sql_lexer.h"

namespace sluice::bench {
namespace {

using pooling::Backslash;
using pooling::SqlLexer;
using pooling::SqlToken;
using pooling::SqlTokenKind;

constexpr std::size_t kParametersMax = 1000;
constexpr std::string_view kScaleName = "scale";

struct Complaint {
  std::string message;
};

// The tokens of one \set, with one token to look ahead. Complains by exception within this file only.
class SetLine {
 public:
  SetLine(std::string_view line, const Scale& scale) : lexer_(line, Backslash::Literal), scale_(scale) {
    take();
  }

  Parameter parameter() {
    Parameter made;
    if (ahead_.kind != SqlTokenKind::Word) fail("\\set is followed by a name");
    made.name = take().text;
    if (made.name == kScaleName) fail("scale is the name of what --scale gives");
    const SqlToken from = take();
    if (from.word("random"))
      made.from = integers();
    else if (from.word("choice"))
      made.from = choices();
    else
      fail("a parameter is random(LOW, HIGH) or choice('...', ...)");
    if (ahead_.symbol(';')) take();
    if (ahead_.kind != SqlTokenKind::End) fail("the line should end behind ')'");
    return made;
  }

 private:
  [[noreturn]] static void fail(std::string message) { throw Complaint{std::move(message)}; }

  SqlToken take() { return std::exchange(ahead_, lexer_.next()); }
  void expect(char symbol) {
    if (!take().symbol(symbol)) fail(std::string("expected '") + symbol + "'");
  }

  RandomInteger integers() {
    expect('(');
    const std::int64_t low = bound();
    expect(',');
    const std::int64_t high = bound();
    expect(')');
    if (low > high)
      fail("random(" + std::to_string(low) + ", " + std::to_string(high) + ") holds no number at scale " +
           scale_.text());
    return {low, high};
  }

  // N, -N or N * :scale.
  std::int64_t bound() {
    const bool negative = ahead_.symbol('-');
    if (negative) take();
    const SqlToken number = take();
    const auto read = to_number<std::int64_t>(number.text);
    if (number.kind != SqlTokenKind::Number || !read) fail("a bound is a whole number, or one * :scale");
    const std::int64_t value = negative ? -*read : *read;
    if (!ahead_.symbol('*')) return value;
    take();
    expect(':');
    if (const SqlToken name = take(); name.kind != SqlTokenKind::Word || name.text != kScaleName)
      fail("a bound may be multiplied by :scale only");
    const auto product = scale_.times(value);
    if (value < 0 || !product) fail("this bound is out of range");
    return *product;
  }

  RandomChoice choices() {
    RandomChoice made;
    expect('(');
    do {
      const SqlToken value = take();
      if (value.kind != SqlTokenKind::String) fail("choice() takes strings in quotes");
      made.values.push_back(value.string_value());
    } while (take_comma());
    expect(')');
    return made;
  }
  bool take_comma() {
    const bool is = ahead_.symbol(',');
    if (is) take();
    return is;
  }

  SqlLexer lexer_;
  const Scale& scale_;
  SqlToken ahead_;
};

std::string_view without_blanks(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.front()))
    line.remove_prefix(1);
  while (!line.empty() && blank(line.back()))
    line.remove_suffix(1);
  return line;
}

class QueryFile {
 public:
  QueryFile(const SourceFile& file, const Scale& scale) : file_(file), scale_(scale), rest_(file.text) {}

  std::variant<QueryShape, Problem> parse() {
    try {
      shape_.name = file_.name;
      if (shape_.name.ends_with(".sql")) shape_.name.resize(shape_.name.size() - 4);
      if (file_.text.find('\0') != std::string::npos) throw Complaint{"there is a zero byte in it"};
      read_head();
      read_statement();
      for (std::size_t i = 0; i < declared_.size(); ++i)
        if (!declared_[i].number)
          return Problem{file_.name, declared_[i].line, "nothing uses :" + declared_[i].parameter.name};
      return std::move(shape_);
    } catch (const Complaint& complaint) {
      return Problem{file_.name, line_, complaint.message};
    }
  }

 private:
  struct Declared {
    Parameter parameter;
    std::size_t line = 0;
    std::size_t number = 0;  // of $n; 0: not used yet
  };

  // Blank lines, comments and \set, up to the statement.
  void read_head() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = without_blanks(rest_.substr(0, end));
      if (!line.empty() && !line.starts_with("--")) {
        if (!line.starts_with('\\')) return;
        declare(line);
      }
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
    }
  }

  void declare(std::string_view line) {
    constexpr std::string_view kSet = "\\set ";
    if (!line.starts_with(kSet)) throw Complaint{"of psql's commands only \\set is known here"};
    if (declared_.size() >= kParametersMax) throw Complaint{"more parameters than anybody needs"};
    Parameter parameter = SetLine(line.substr(kSet.size()), scale_).parameter();
    if (find(parameter.name) != nullptr) throw Complaint{":" + parameter.name + " is set twice"};
    declared_.push_back({std::move(parameter), line_, 0});
  }

  Declared* find(std::string_view name) {
    for (Declared& d : declared_)
      if (d.parameter.name == name) return &d;
    return nullptr;
  }

  // Everything as it is written, but for parameters.
  void read_statement() {
    SqlLexer lexer(rest_, Backslash::Literal);
    const char* copied = rest_.data();  // what is before has been taken over
    const auto copy_to = [&](const char* end) {
      shape_.sql.append(copied, end);
      copied = end;
    };
    const char* counted = rest_.data();  // lines up to here are in line_
    bool any = false, ended = false;
    SqlToken before;
    for (SqlToken token = lexer.next(); token.kind != SqlTokenKind::End; token = lexer.next()) {
      line_ += static_cast<std::size_t>(std::count(counted, token.text.data(), '\n'));
      counted = token.text.data();
      if (ended) throw Complaint{"a file holds one statement; a second one begins here"};
      if (token.symbol('\\')) throw Complaint{"\\set lines stand before the statement"};
      if (token.symbol(';')) {
        copy_to(token.text.data());
        ended = true;
        continue;
      }
      if (names_parameter(before, token)) {
        copy_to(token.text.data() - 1);
        shape_.sql += value_of(token.text);
        copied = token.text.data() + token.text.size();
      }
      // The second colon of a cast begins no name.
      const bool cast = token.symbol(':') && before.symbol(':') && adjacent(before, token);
      before = cast ? SqlToken{} : token;
      any = true;
    }
    if (!any) throw Complaint{"there is no statement in it"};
    if (!ended) copy_to(rest_.data() + rest_.size());
  }

  static bool adjacent(const SqlToken& first, const SqlToken& second) {
    return first.text.data() + first.text.size() == second.text.data();
  }
  static bool names_parameter(const SqlToken& before, const SqlToken& token) {
    return before.symbol(':') && token.kind == SqlTokenKind::Word && adjacent(before, token);
  }

  std::string value_of(std::string_view name) {
    if (name == kScaleName) return scale_.text();
    Declared* const declared = find(name);
    if (declared == nullptr)
      throw Complaint{"unknown parameter :" + std::string(name.substr(0, 63)) + "; set it with \\set"};
    if (declared->number == 0) {
      shape_.parameters.push_back(declared->parameter);
      declared->number = shape_.parameters.size();
    }
    return "$" + std::to_string(declared->number);
  }

  const SourceFile& file_;
  const Scale& scale_;
  std::string_view rest_;
  std::size_t line_ = 1;
  std::vector<Declared> declared_;
  QueryShape shape_;
};

std::string value(const RandomInteger& from, Rng& rng) {
  // As unsigned numbers: the distance of two of them always fits, and 2^64 wraps to 0.
  const std::uint64_t count =
      static_cast<std::uint64_t>(from.high) - static_cast<std::uint64_t>(from.low) + 1;
  const std::uint64_t step = count == 0 ? rng.next() : rng.below(count);
  return std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(from.low) + step));
}

std::string value(const RandomChoice& from, Rng& rng) {
  return from.values[rng.below(from.values.size())];
}

}  // namespace

std::vector<std::optional<std::string>> QueryShape::draw(Rng& rng) const {
  std::vector<std::optional<std::string>> values;
  for (const Parameter& parameter : parameters)
    values.emplace_back(std::visit([&](const auto& from) { return value(from, rng); }, parameter.from));
  return values;
}

std::variant<QueryShape, Problem> parse_query_file(const SourceFile& file, const Scale& scale) {
  return QueryFile(file, scale).parse();
}

std::string with_scale(std::string_view text, const Scale& scale) {
  constexpr std::string_view kMark = ":scale";
  const auto part_of_name = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool here = text.substr(at).starts_with(kMark) && (at == 0 || text[at - 1] != ':') &&
                      (at + kMark.size() == text.size() || !part_of_name(text[at + kMark.size()]));
    if (here) {
      out += scale.text();
      at += kMark.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace sluice::bench
