#include "admin/http_request.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace sluice::admin {

namespace http = boost::beast::http;

struct HttpRequestParser::Beast {
  http::request_parser<http::empty_body> parser;
};

HttpRequestParser::HttpRequestParser(std::size_t header_bytes_max) : beast_(std::make_unique<Beast>()) {
  beast_->parser.header_limit(static_cast<std::uint32_t>(header_bytes_max));
}
HttpRequestParser::~HttpRequestParser() = default;

HttpRequestParser::State HttpRequestParser::refuse(int status) {
  refusal_status_ = status;
  return State::Refused;
}

HttpRequestParser::State HttpRequestParser::feed(std::string& input) {
  auto& parser = beast_->parser;
  boost::system::error_code error;
  while (!input.empty() && !parser.is_header_done()) {
    const std::size_t taken = parser.put(boost::asio::buffer(input), error);
    input.erase(0, taken);
    if (error == http::error::need_more) return State::NeedMore;
    if (error == http::error::header_limit) return refuse(431);
    if (error) return refuse(400);
    if (taken == 0) break;
  }
  return parser.is_header_done() ? judge() : State::NeedMore;
}

HttpRequestParser::State HttpRequestParser::judge() {
  const auto& parser = beast_->parser;
  const auto& message = parser.get();
  // A request for no body may still announce one of length 0.
  if (parser.chunked() || parser.content_length().value_or(0) != 0) return refuse(413);
  const std::size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() == 11)) return refuse(400);
  const auto target = std::string_view(message.target().data(), message.target().size());
  if (target.empty() || target.front() != '/') return refuse(400);
  request_.path = target.substr(0, target.find('?'));
  request_.keep_alive = parser.keep_alive();
  request_.method = message.method() == http::verb::get    ? HttpMethod::Get
                    : message.method() == http::verb::head ? HttpMethod::Head
                                                           : HttpMethod::Other;
  return State::Done;
}

}  // namespace sluice::admin
