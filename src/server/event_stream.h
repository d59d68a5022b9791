// Bodies that are written while the client reads: plain pieces, or server-sent events on top of them.
//
// Writes wait for the client (backpressure); one that reads too slowly is disconnected after the server's write time.
// Several coroutines may write to one: pieces are sent whole, in the order of the calls.
#pragma once

#include <string>
#include <string_view>

#include "base/async.h"

namespace bj {

class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  // False when the client is gone; whatever produces the body should then end.
  virtual Task<bool> write(std::string piece) = 0;
  // Before the body's producer ends: its last piece, which goes out together with the body's end.
  virtual void end_with(std::string piece) = 0;
  // True once a write has failed.
  virtual bool gone() const = 0;
  // What is being written will never be whole: the connection is reset at the end, so that no client takes what came
  // for all there is.
  virtual void abandon() {}
};

class EventStream {
 public:
  explicit EventStream(BodyWriter& body) : body_(body) {}

  // One event; several lines of data become several data fields. `event` may be empty (the client's "message"). False
  // when the client is gone.
  Task<bool> send(std::string event, std::string data);
  // A comment, which clients ignore: it finds out whether the client is there.
  Task<bool> heartbeat();
  bool gone() const { return body_.gone(); }

 private:
  BodyWriter& body_;
};

// The text of one event as it goes over the wire. Line ends of any kind separate lines; the event's name ends at one.
std::string event_text(std::string_view event, std::string_view data);

}  // namespace bj
