#include "http/page.h"

#include <array>
#include <charconv>
#include <ctime>

#include "http/head.h"

namespace sluice::http {

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

std::string http_date(WallTime time) {
  constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 32> rest{};
  std::string date;
  date.append(kDays[static_cast<std::size_t>(parts.tm_wday)]);
  date.append(rest.data(), std::strftime(rest.data(), rest.size(), ", %d ", &parts));
  date.append(kMonths[static_cast<std::size_t>(parts.tm_mon)]);
  date.append(rest.data(), std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S GMT", &parts));
  return date;
}

std::string serialize(const Page& page, Body body, Connection connection, WallTime now) {
  std::string out = "HTTP/1.1 " + std::to_string(page.status) + ' ';
  const auto header = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append(reason_phrase(page.status)).append("\r\n");
  header("Date", http_date(now));
  header("Content-Type", page.content_type);
  if (!page.endless) header("Content-Length", std::to_string(page.body.size()));
  header("Cache-Control", "no-store");
  header("X-Content-Type-Options", "nosniff");
  if (!page.allow.empty()) header("Allow", page.allow);
  for (const PageField& field : page.fields)
    header(field.name, field.value);
  header("Connection", connection == Connection::KeepAlive ? "keep-alive" : "close");
  out += "\r\n";
  if (body == Body::Whole) out += page.body;
  return out;
}

namespace {

PageRequest::Method method_of(Method method) noexcept {
  switch (method) {
    case Method::Get:
      return PageRequest::Method::Get;
    case Method::Head:
      return PageRequest::Method::Head;
    case Method::Post:
      return PageRequest::Method::Post;
    case Method::Options:
    case Method::Trace:
    case Method::Put:
    case Method::Delete:
    case Method::Connect:
    case Method::Other:
      break;
  }
  return PageRequest::Method::Other;
}

void take_fields(const RequestHead& head, PageRequest& request) {
  struct Wanted {
    std::string_view name;
    std::string PageRequest::*member;
  };
  constexpr Wanted kWanted[] = {{"origin", &PageRequest::origin},
                                {"sec-fetch-site", &PageRequest::fetch_site},
                                {"authorization", &PageRequest::authorization},
                                {"traceparent", &PageRequest::traceparent},
                                {"accept", &PageRequest::accept},
                                {"accept-encoding", &PageRequest::accept_encoding}};
  for (const Field& field : head.fields)
    for (const Wanted& wanted : kWanted) {
      if (!equals_ignoring_case(field.name, wanted.name)) continue;
      std::string& value = request.*wanted.member;
      value.append(value.empty() ? "" : ", ").append(field.value);
    }
}

}  // namespace

PageRequestParser::State PageRequestParser::refuse(int status) {
  refusal_status_ = status;
  return State::Refused;
}

PageRequestParser::State PageRequestParser::feed(std::string& input) {
  const HeadEnd end = find_head_end(input, searched_);
  if (end.result == HeadSearch::BareLineFeed) return refuse(400);
  if (end.result == HeadSearch::NeedMore)
    return input.size() > header_bytes_max_ ? refuse(431) : State::NeedMore;
  RequestHead head;
  const HeadLimits limits{header_bytes_max_, 100};
  if (const Refusal refusal = parse_request(std::string_view(input).substr(0, end.bytes), limits, head))
    return refuse(refusal.status);
  // A request for no body may still announce one of length 0.
  if (head.framing == Framing::Chunked || head.content_length != 0) return refuse(413);
  request_.path = head.path;
  request_.query = head.target.size() > head.path.size() ? head.target.substr(head.path.size() + 1) : "";
  request_.keep_alive = head.keep_alive;
  request_.method = method_of(head.method);
  request_.host = head.host;
  take_fields(head, request_);
  input.erase(0, end.bytes);
  return State::Done;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error == std::errc() && end == text.data() + i + 3) {
        out += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    std::string value(pair.substr(std::min(equals + 1, pair.size())));
    for (char& c : value)
      if (c == '+') c = ' ';
    return percent_decoded(value);
  }
  return "";
}

}  // namespace sluice::http
