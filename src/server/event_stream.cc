#include "server/event_stream.h"

namespace bj {

std::string event_text(std::string_view event, std::string_view data) {
  std::string text;
  event = event.substr(0, event.find_first_of("\r\n"));
  if (!event.empty()) text.append("event: ").append(event).append("\n");
  for (;;) {
    const size_t end = data.find_first_of("\r\n");
    text.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return text + "\n";
}

Task<bool> EventStream::send(std::string event, std::string data) {
  co_return co_await body_.write(event_text(event, data));
}

Task<bool> EventStream::heartbeat() { co_return co_await body_.write(": keep-alive\n\n"); }

}  // namespace bj
