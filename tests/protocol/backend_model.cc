#include "tests/protocol/backend_model.h"

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"

namespace sluice::protocol::test {

void BackendModel::answer(char type, std::string_view body) {
  append_message(output_, type, as_bytes(body));
  ++answers_;
}

void BackendModel::error(const char* severity, const char* sqlstate) {
  append_error_response(output_, {severity, sqlstate, "toy", "", ""});
  ++answers_;
  if (status_ == 'T') status_ = 'E';
  copy_ = 0;
  rest_of_query_.clear();
  if (extended_) ignore_till_sync_ = true;
}

void BackendModel::ready() {
  append_parameter_status(output_, "x", "y");
  append_ready_for_query(output_, status_);
  ++answers_;
  batch_open_ = false;
}

bool BackendModel::run_statement(char statement) {
  if (status_ == 'E' && statement != 'o') return error("ERROR", "25P02"), false;
  switch (statement) {
    case 's':
      if (!extended_) answer('T', "t");
      answer('D', "row");
      answer('D', "");
      return answer('C', "SELECT 2"), true;
    case 'b':
      status_ = 'T';
      return answer('C', "BEGIN"), true;
    case 'o':
      status_ = 'I';
      return answer('C', "COMMIT"), true;
    case 'n':
      append_notice_response(output_, {"NOTICE", "00000", "FATAL", "", ""});
      return answer('C', "DO"), true;
    case 'k':
      answer('H', "f");
      answer('d', "1");
      answer('c');
      return answer('C', "COPY 1"), true;
    case 'c':
    case 'x':
    case 'v':
      answer('G', "f");
      copy_rows_ = 0;
      copy_ = statement;
      if (statement == 'v') error("ERROR", "42809");
      return false;
    default:
      return error("ERROR", "22012"), false;
  }
}

void BackendModel::run_query(std::string_view rest) {
  while (!rest.empty()) {
    const char statement = rest.front();
    rest.remove_prefix(1);
    if (run_statement(statement)) continue;
    if (copy_ == 0) break;
    rest_of_query_ = rest;
    return;
  }
  ready();
}

void BackendModel::finish_copy() {
  if (extended_) return;
  if (copy_ != 0) {  // it succeeded
    copy_ = 0;
    return run_query(std::string(rest_of_query_));
  }
  ready();
}

void BackendModel::copy_message(char type) {
  switch (type) {
    case 'd':
      if (copy_ == 'x' && ++copy_rows_ == 2) {
        error("ERROR", "23505");
        finish_copy();
      }
      return;
    case 'H':
    case 'S':
      return;
    case 'c':
      answer('C', "COPY 9");
      finish_copy();
      copy_ = extended_ ? char{0} : copy_;
      return;
    case 'f':
      error("ERROR", "57014");
      finish_copy();
      return;
    default:
      error("ERROR", "08P01");
      error("FATAL", "08P01");
      dead_ = true;
  }
}

void BackendModel::consume(char type, std::string_view text, bool limited) {
  if (dead_) return;
  if (copy_ != 0) return copy_message(type);
  if (type == 'S') ignore_till_sync_ = false;
  if (ignore_till_sync_) return;
  extended_ = type == 'P' || type == 'B' || type == 'D' || type == 'E' || type == 'C' || type == 'H';
  if (extended_ && type != 'H') batch_open_ = true;
  switch (type) {
    case 'Q':
      if (text.empty()) {
        answer('I');
        return ready();
      }
      return run_query(text);
    case 'F':
      if (status_ == 'E')
        error("ERROR", "25P02");
      else
        answer('V', "1234");
      return ready();
    case 'S':
      return ready();
    case 'P':
      if (text == "!") return error("ERROR", "42601");
      statement_ = text.empty() ? ' ' : text[0];
      return answer('1');
    case 'B':
      portal_ = statement_;
      return answer('2');
    case 'D':
      if (text == "S") answer('t', "p");
      return statement_ == 's' ? answer('T', "t") : answer('n');
    case 'C':
      return answer('3');
    case 'H':
      if (!text.empty()) error("ERROR", "08P01");
      return;
    case 'E':
      if (portal_ == ' ') return answer('I');
      if (limited && portal_ == 's') {
        answer('D', "row");
        return answer('s');
      }
      run_statement(portal_);
      return;
    default:
      return;
  }
}

}  // namespace sluice::protocol::test
