#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "trace/call.h"
#include "trace/comment.h"

namespace sluice::trace {

// The routes that comments of one thread's sessions named lately, by how they are written there: a route that
// is seen again is neither decoded nor copied, and all sessions share its name. Comments of a route are alike
// up to their traceparent, the last of sqlcommenter's sorted keys: one that begins as another did is not even
// taken apart.
// Shape:  two caches of kPlaces; of two entries that fall on one place the later one stays. At most kPlaces
//         times kWrittenMax and kBeginningMax bytes and a name each, whatever clients write.
// Thread: one.
class RouteNames {
 public:
  static constexpr std::size_t kPlaces = 256;
  // What is written longer than this is too long for a route, however it is encoded.
  static constexpr std::size_t kWrittenMax = 3 * kRouteBytesMax;

  static constexpr std::size_t kBeginningMax = 512;

  struct Named {
    RouteName route;  // null for none
    TraceId trace;
  };
  // As read_comments().
  Named read(std::string_view front, std::string_view back);
  // Null for what names no route.
  RouteName of(const WrittenTags& tags);

 private:
  struct Place {
    std::string written, action;
    RouteName name;
  };
  // Of a comment: all before the traceparent that ends it, and the route that it names.
  struct Beginning {
    std::string text;
    RouteName route;
  };
  RouteName of(std::string_view written, std::string_view action);

  std::array<Place, kPlaces> places_;
  std::array<Beginning, kPlaces> beginnings_;
};

}  // namespace sluice::trace
