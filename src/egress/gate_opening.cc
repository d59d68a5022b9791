// The part of a gate that ends TLS itself: where a credential is bound, and where rules speak of requests, as nothing
// else could keep them.
#include <algorithm>

#include "egress/credential_json.h"
#include "egress/gate.h"

namespace bj {
namespace {

Decision refusal(std::string reason) {
  Decision decision;
  decision.reason = std::move(reason);
  return decision;
}

bool same(const GateCredentials& some, const GateCredentials& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.value->reveal() == other.value->reveal() &&
           binding_json(one) == binding_json(other);
  });
}

}  // namespace

Result<void> Gate::ensure_authority() {
  if (authority_) return {};
  BJ_TRY(authority_, TlsAuthority::create());
  return {};
}

Result<void> Gate::give(GateCredentials credentials) {
  if (!credentials.empty()) BJ_CHECK(ensure_authority());
  for (const PassagePtr& passage : passages_) {  // what was taken away or exchanged is not used any more
    if (!passage->inspected || !passage->name) continue;
    const auto bound = [&](const GateCredentials& all) { return bound_to(all, *passage->name, passage->port); };
    if (!same(bound(credentials_), bound(credentials)))
      deny(*passage, refusal("the credentials for " + *passage->name + " have changed: connect again"));
  }
  forbidden_ = std::make_shared<const ForbiddenTexts>(credentials);
  credentials_ = std::move(credentials);
  return {};
}

// TLS on this connection would be opened. The decision tells about rules once the address is known.
bool Gate::may_open(const Passage& passage) const {
  if (!authority_ || !passage.name) return false;
  return passage.decision.verdict == Verdict::kInspect || !bound_to(credentials_, *passage.name, passage.port).empty();
}

bool Gate::is_opened(const Passage& passage) const {
  return passage.first.kind == FirstBytes::Kind::kTls && may_open(passage);
}

OpenedConnection::Terms Gate::terms_for(const PassagePtr& passage) {
  OpenedConnection::Terms terms;
  terms.name = *passage->name;
  terms.port = passage->port;
  terms.credentials = bound_to(credentials_, terms.name, terms.port);
  terms.forbidden = terms.credentials.empty() ? std::make_shared<const ForbiddenTexts>(GateCredentials{}) : forbidden_;
  terms.bodies = bodies_;
  const auto self = shared_from_this();
  terms.decide = [self, passage](const HttpHead& head) { return self->decide_request(*passage, head); };
  terms.tell = [self, passage](GateEvent::Kind kind, Decision decision, std::string credential) {
    if (!self->listener_) return;
    GateEvent event;
    event.kind = kind;
    event.host = *passage->name;
    event.port = passage->port;
    event.address = passage->address->text();
    event.decision = std::move(decision);
    event.credential = std::move(credential);
    self->listener_(event);
  };
  return terms;
}

Task<void> Gate::serve_opened(PassagePtr passage) {
  const auto self = shared_from_this();
  passage->inspected = true;
  Result<SslPtr> shown = authority_->server_end(*passage->name);
  Result<SslPtr> asked = tls_client_end(*passage->name);
  if (!shown || !asked) co_return deny(*passage, refusal((shown ? asked : shown).error().what));
  tell(GateEvent::Kind::kConnected, *passage);
  const auto opened =
      std::make_shared<OpenedConnection>(passage->flow, terms_for(passage), std::move(*shown), std::move(*asked));
  co_await opened->run();
  tell(GateEvent::Kind::kEnded, *passage);
}

// Through CONNECT or SOCKS; the program was told that it is connected.
Task<void> Gate::serve_tunnel(PassagePtr passage) {
  const auto self = shared_from_this();
  const First first = co_await look_at_first_bytes(passage, Clock::now() + kHelloPatience);
  if (first == First::kRefused) co_return passage->flow->abort();
  if (is_opened(*passage)) co_return co_await serve_opened(passage);
  if (passage->decision.verdict == Verdict::kInspect)
    co_return deny(*passage, refusal("rules about requests hold for HTTP, and this tunnel holds something else"));
  tell(GateEvent::Kind::kConnected, *passage);
  const auto then = first == First::kSilent ? FirstBytesAre::kToCome : FirstBytesAre::kChecked;
  co_await passage->flow->forward(witness_of(passage, then));
  tell(GateEvent::Kind::kEnded, *passage);
}

}  // namespace bj
