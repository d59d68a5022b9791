// A connection that the gate opened: TLS ends here on both sides, requests are read, decided on and given their
// credentials, answers are looked through for values that must not come back. HTTP/1.1, many requests a connection, one
// at a time; a WebSocket passes after its handshake.
//
// Two coroutines: requests go one way, answers the other, so that an answer may come before a body is sent. What the
// server ends, ends for the program too: it sees what it would have seen alone.
//
// Stays on its flow's thread. Ends when the flow is aborted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/change.h"
#include "egress/credential_use.h"
#include "egress/flow.h"
#include "egress/gate_event.h"
#include "egress/http_body.h"
#include "egress/http_head.h"
#include "egress/http_response.h"
#include "egress/redaction.h"
#include "egress/tls_stream.h"

namespace bj {

// For the bodies that the connections of one gate hold to put credentials into: some at a time, others wait for their
// turn. They lie in our memory, which the sandbox's limit does not count.
class BodyTurns {
 public:
  explicit BodyTurns(const asio::any_io_executor& executor) : freed_(executor) {}

  // Waits for one. False: the flow is gone.
  Task<bool> take(std::shared_ptr<Flow> flow);
  void give_back();

 private:
  static constexpr int kMost = 16;
  int taken_ = 0;
  Change freed_;
};

class OpenedConnection : public std::enable_shared_from_this<OpenedConnection> {
 public:
  struct Terms {
    std::string name;  // that the program connected to
    uint16_t port = 0;
    GateCredentials credentials;                      // bound to it
    std::shared_ptr<const ForbiddenTexts> forbidden;  // in answers; of none: they pass as they are
    std::shared_ptr<BodyTurns> bodies;
    std::function<Decision(const HttpHead& head)> decide;
    // kConnectionDenied, kUpstreamFailed with the reason in the decision; kSecretUsed with the credential's name.
    std::function<void(GateEvent::Kind kind, Decision decision, std::string credential)> tell;
  };
  // The flow is connected, nothing of the client's hello was taken. `server`: our end of the connection to it.
  OpenedConnection(std::shared_ptr<Flow> flow, Terms terms, SslPtr client, SslPtr server);

  Task<void> run();

 private:
  // The request that waits for its answer.
  struct Pending {
    std::string method;
    bool is_http_1_0 = false;
    bool wants_websocket = false;
    bool keep_alive = true;
    bool is_sent = false;  // all of it
  };
  enum class Next { kGoOn, kEnd };

  Task<bool> shake_hands();
  // The client's way.
  Task<void> take_requests();
  Task<std::optional<HttpHead>> next_head();
  std::optional<std::string> complaint_of(const HttpHead& head) const;
  Task<Next> pass_request(const HttpHead& head);
  Task<bool> send_request(const HttpHead& head);
  Task<bool> send_with_rewritten_body(const HttpHead& head, const CredentialChoice& chosen, BodyLength length);
  Task<bool> rewrite_body(const HttpHead& head, const CredentialChoice& chosen, BodyLength length);
  Task<bool> send_head(const HttpHead& head, const CredentialChoice& chosen, std::optional<uint64_t> body_size);
  Task<bool> send_body(BodyLength length);
  Task<bool> send(std::string text);
  Task<bool> pass_client_bytes();
  void note_use(const std::vector<std::string>& names);
  // Tells the program why, and that the connection ends.
  Task<Next> refuse(const char* status, std::string reason);
  Task<bool> refuse_pending(const char* status, std::string reason);
  // Reads on a while, so that an answer before the end of a request is not lost in a reset.
  Task<void> drain();

  // The server's way (opened_answers.cc).
  Task<void> pass_answers();
  Task<Next> pass_answer();
  Task<bool> answer_body(BodyLength length);
  Task<bool> pass_websocket();
  std::string head_for_client(const ResponseHead& response, BodyLength length) const;
  std::optional<std::string> complaint_of(const ResponseHead& response) const;
  Task<Next> refuse_answer(std::string reason);

  Task<bool> fill(TlsStream& from, std::string& buffer);
  Task<bool> tell_client(std::string text);
  bool account();
  bool account_given(size_t given, size_t sent);

  std::shared_ptr<Flow> flow_;
  Terms terms_;
  TlsStream client_, server_;
  std::string from_client_, from_server_;  // not looked at yet
  std::optional<Pending> pending_;
  std::optional<std::string> unreachable_;  // why the server is
  bool answering_ = false;                  // the program is being told its answer
  bool upgraded_ = false;
  bool refused_ = false;  // there may be more of a request
  bool answers_over_ = false;
  uint64_t counted_in_ = 0, counted_out_ = 0;
  Change signal_;  // told by the coroutine that passes answers
};

}  // namespace bj
