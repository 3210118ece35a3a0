#include "web/asset_page.h"

#include <array>

#include "http/head.h"

namespace sluice::web {
namespace {

constexpr std::array<http::PageField, 7> kFields{{
    {"Content-Encoding", "gzip"},
    {"Vary", "Accept, Accept-Encoding"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
}};

// "gzip;q=0" is a no; any other weight is a yes.
bool names(std::string_view list, std::string_view wanted) noexcept {
  std::string_view word;
  while (http::next_word(list, word)) {
    const std::string_view name = word.substr(0, word.find(';'));
    const std::size_t end = name.find_last_not_of(" \t");
    if (end == std::string_view::npos || !http::equals_ignoring_case(name.substr(0, end + 1), wanted))
      continue;
    return word.find("q=0") == std::string_view::npos || word.find("q=0.") != std::string_view::npos;
  }
  return false;
}

}  // namespace

http::Page asset_page(const Asset& asset, std::string_view accept_encoding) {
  http::Page page;
  if (!accept_encoding.empty() && !names(accept_encoding, "gzip") && !names(accept_encoding, "*")) {
    page.status = 406;
    page.body = "This is sent with gzip alone.\n";
    return page;
  }
  page.content_type = asset.content_type;
  page.body = asset.gzip;
  page.fields = kFields;
  return page;
}

bool wants_html(std::string_view accept) noexcept {
  return names(accept, "text/html");
}

}  // namespace sluice::web
