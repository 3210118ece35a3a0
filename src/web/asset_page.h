#pragma once

#include <string_view>

#include "http/page.h"
#include "web/assets.h"

namespace sluice::web {

// The answer with that file in it, and with the fields that let a page do no more than it needs: scripts,
// styles and data from where it came from, nothing inline, in nobody's frame. 406 where the browser says that
// it takes no gzip.
http::Page asset_page(const Asset& asset, std::string_view accept_encoding);

// Whether a browser asks, by its Accept field: "text/html" is named and not just covered by "*/*".
bool wants_html(std::string_view accept) noexcept;

}  // namespace sluice::web
