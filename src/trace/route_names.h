#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/call.h"
#include "trace/comment.h"

namespace sluice::trace {

// The routes that comments of one thread's sessions named lately, by how they are written there: a route that
// is seen again is neither decoded nor copied, and all sessions share its name. Comments of a route are alike
// up to their traceparent, the last of sqlcommenter's sorted keys: one that begins as another did is not even
// taken apart, and one that begins as the session's last not even looked for.
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
    RouteName route;
    TraceId trace;
  };
  // Which beginning a session's comment had last.
  using Hint = std::uint16_t;

  // As read_comments().
  Named read(std::string_view front, std::string_view back, Hint& hint);
  // None for what names no route.
  RouteName of(const WrittenTags& tags);

 private:
  struct Place {
    std::string written, action;
    RouteName name;
  };
  // Of a comment: all from its /* to the traceparent that ends it, and the route that it names.
  struct Beginning {
    std::string text;
    RouteName route;
  };
  RouteName of(std::string_view written, std::string_view action);
  // What the comment at the end says, if it is as that one and has a valid traceparent.
  static std::optional<Named> read_alike(const Beginning& seen, std::string_view back) noexcept;

  std::array<Place, kPlaces> places_;
  std::array<Beginning, kPlaces> beginnings_;
};

}  // namespace sluice::trace
