#include "egress/gate.h"

#include <algorithm>

#include "launcher/gate_control.h"

namespace bj {
namespace {

constexpr size_t kMostPassages = 256, kMostNames = 1024, kMostAddressesTried = 4;
constexpr size_t kMostLargeBuffers = 8;  // connections at a time
constexpr auto kAfterAFailedAccept = std::chrono::milliseconds(50);
constexpr auto kSilence = std::chrono::milliseconds(200);  // then the server may be the one that speaks first

Decision refusal(std::string reason) {
  Decision decision;
  decision.reason = std::move(reason);
  return decision;
}

// Whether and why, without what the kernel's sets need.
Decision verdict_on(const NetworkPolicy& policy, std::string_view name) {
  NameDecision decision = decide_name(policy, name);
  return std::move(static_cast<Decision&>(decision));
}

}  // namespace

Gate::Gate(const asio::any_io_executor& executor, GateEndpoints ends, NetworkPolicy policy, GateListener listener)
    : executor_(executor),
      acceptor_(executor, asio::ip::tcp::v6(), ends.connections.release()),
      admission_(std::move(ends.rules)),
      policy_(std::move(policy)),
      resolver_(executor),
      own_{own_addresses().value_or(std::vector<IpAddress>())},  // is_own_address() is asked, too
      listener_(std::move(listener)),
      names_(kMostNames),
      bodies_(std::make_shared<BodyTurns>(executor)),
      totals_([this](const std::string& cap, const std::string& what) { tell_cap(cap, what); }),
      next_connection_(executor) {
  keep_caps();
}

Gate::~Gate() = default;

Result<std::shared_ptr<Gate>> Gate::open(const asio::any_io_executor& executor, GateEndpoints ends,
                                         NetworkPolicy policy, GateListener listener, const std::string& authority) {
  Fd streams = std::move(ends.dns_streams), packets = std::move(ends.dns_packets);
  std::shared_ptr<Gate> gate(new Gate(executor, std::move(ends), std::move(policy), std::move(listener)));
  BJ_CHECK(gate->admission_.open_ranges(gate->policy_));
  if (!authority.empty()) {
    BJ_TRY(gate->authority_, TlsAuthority::load(authority));
  }
  if (is_about_requests(gate->policy_)) BJ_CHECK(gate->ensure_authority());
  const auto answer = [weak = gate->weak_from_this()](std::string_view message, DnsTransport transport) {
    const auto self = weak.lock();
    return self ? self->answer_dns(message, transport) : std::string();
  };
  gate->dns_ = std::make_shared<DnsService>(executor, std::move(streams), std::move(packets), answer);
  gate->dns_->start();
  spawn(executor, [gate]() -> Task<void> { co_await gate->accept(); });
  return gate;
}

void Gate::stop() {
  if (stopped_) return;
  stopped_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  next_connection_.cancel();
  dns_->stop();
  tell_refused();
  for (const PassagePtr& passage : passages_) {
    tell(GateEvent::Kind::kEnded, *passage);
    passage->flow->abort();
  }
  listener_ = nullptr;
}

void Gate::keep_caps() {
  if (!gate_keeps(GateControl::kCaps)) policy_.caps = {};
  const NetworkCaps& caps = policy_.caps;
  totals_.keep(caps);
  next_connection_.cancel();
  names_.limit(static_cast<size_t>(std::min<uint64_t>(caps.names.value_or(kMostNames), SyntheticNames::kMost)));
}

// What the kernel refused in connect() never came here: it is asked for it.
void Gate::tell_refused() {
  if (!listener_) return;
  const auto refused = admission_.take_refused();
  if (!refused) return;
  GateEvent event;
  event.kind = GateEvent::Kind::kConnectionDenied;
  for (const RefusedPlace& place : refused->places) {
    const std::string* const name = names_.name_of(place.address);
    event.host = name != nullptr ? *name : place.address.text();
    event.port = place.port;
    event.decision = decide_address(policy_, own_, {}, place.address, place.port);
    if (name != nullptr || !event.decision.denied()) {
      event.decision = refusal("no rule allows " + event.host + " on port " + std::to_string(place.port));
    }
    if (place.by_udp) event.decision = refusal("of UDP only DNS passes");
    listener_(event);
  }
  if (!refused->is_full) return;
  event.host = "more places";
  event.port = 0;
  event.decision = refusal("so many places were refused that not all could be noted");
  listener_(event);
}

// What is not allowed any more ends first: it must not go on if the kernel's sets can't be changed.
Result<void> Gate::change(NetworkPolicy policy) {
  tell_refused();
  policy_ = std::move(policy);
  keep_caps();
  for (const PassagePtr& passage : passages_) {
    if (!passage->address) continue;  // decided when it connects
    Decision decision = decide_address(policy_, own_, passage->name, *passage->address, passage->port);
    // A listed private address is allowed as such, not under every name.
    if (passage->name && !decision.denied()) {
      if (Decision named = verdict_on(policy_, *passage->name); named.denied()) decision = std::move(named);
    }
    if (!passage->name && !decision.denied()) {
      if (std::optional<Decision> complaint = complaint_of(*passage, passage->first)) decision = std::move(*complaint);
    }
    if (decision.verdict == Verdict::kInspect && !passage->inspected)
      decision = refusal("rules about requests hold now, and this connection's are not read");
    if (decision.denied()) deny(*passage, std::move(decision));
  }
  BJ_CHECK(admission_.forget_names());
  BJ_CHECK(admission_.open_ranges(policy_));
  const auto known = std::exchange(admitted_, {});
  for (const auto& [name, ports] : known) {
    if (const NameDecision decision = decide_name(policy_, name); !decision.denied()) BJ_CHECK(admit(decision));
  }
  return {};
}

// The kernel still admits what the gate before this one had admitted; policy may have changed since.
Result<void> Gate::remember_in(Fd names) {
  BJ_CHECK(names_.remember_in(std::move(names)));
  const std::vector<std::string> known = names_.all();
  if (known.empty() || !admitted_.empty()) return {};
  BJ_CHECK(admission_.forget_names());
  BJ_CHECK(admission_.open_ranges(policy_));  // private addresses that are listed are among the names
  for (const std::string& name : known) {
    if (const NameDecision decision = decide_name(policy_, name); !decision.denied()) BJ_CHECK(admit(decision));
  }
  return {};
}

void Gate::tell(GateEvent::Kind kind, Passage& passage) const {
  if (kind == GateEvent::Kind::kConnected) passage.open = true;
  if (kind == GateEvent::Kind::kEnded && !std::exchange(passage.open, false)) return;
  if (!listener_) return;
  GateEvent event;
  event.kind = kind;
  event.host = passage.name.value_or(passage.address ? passage.address->text() : "the gate itself");
  event.port = passage.port;
  if (passage.address) event.address = passage.address->text();
  event.decision = passage.decision;
  event.bytes_sent = passage.flow->sent();
  event.bytes_received = passage.flow->received();
  listener_(event);
}

void Gate::tell_cap(const std::string& cap, const std::string& what) const {
  if (!listener_) return;
  GateEvent event;
  event.kind = GateEvent::Kind::kCapReached;
  event.cap = cap;
  event.decision.reason = "the cap " + cap + " is reached: " + what;
  listener_(event);
}

void Gate::deny(Passage& passage, Decision decision) {
  passage.decision = std::move(decision);
  tell(GateEvent::Kind::kConnectionDenied, passage);
  passage.flow->abort();
}

// The program gets an address, and the kernel lets connections to it through before the answer leaves.
Result<SyntheticPair> Gate::admit(const NameDecision& decision) {
  BJ_TRY(const SyntheticPair pair, names_.pair_of(decision.name));
  if (admitted_.contains(decision.name)) return pair;
  BJ_CHECK(admission_.admit(pair.v4, decision.ports));
  BJ_CHECK(admission_.admit(pair.v6, decision.ports));
  admitted_[decision.name] = decision.ports;
  return pair;
}

void Gate::deny_name(const std::string& name, Decision decision) const {
  if (!listener_) return;
  GateEvent event;
  event.kind = GateEvent::Kind::kNameDenied;
  event.host = name.empty() ? "a name that is none" : name;
  event.decision = std::move(decision);
  listener_(event);
}

DnsAnswer Gate::answer_query(const DnsQuery& query) {
  DnsAnswer answer;
  const NameDecision decision = decide_name(policy_, query.name);
  if (decision.denied()) {
    answer.code = DnsCode::kNxDomain;
    deny_name(decision.name, static_cast<const Decision&>(decision));  // of any type: names carry data out, too
    return answer;
  }
  if (!query.asks_for_address()) return answer;
  const Result<SyntheticPair> pair = admit(decision);
  if (pair) {
    answer.addresses = {pair->v4, pair->v6};
    return answer;
  }
  answer.code = DnsCode::kServFail;
  if (pair.error().code == Code::kExhausted && policy_.caps.names) totals_.felt("names", "not resolved");
  deny_name(decision.name, refusal(pair.error().what));
  return answer;
}

std::string Gate::answer_dns(std::string_view message, DnsTransport transport) {
  const DnsReading reading = read_dns_query(message);
  switch (reading.status) {
    case DnsReading::Status::kDrop: return {};
    case DnsReading::Status::kFault: return reading.fault;
    case DnsReading::Status::kQuery: break;
  }
  return write_dns_answer(reading.query, answer_query(reading.query), transport);
}

Task<void> Gate::accept() {
  const auto self = shared_from_this();
  while (!stopped_) {
    if (const auto later = totals_.delay_connection()) {
      next_connection_.expires_at(*later);
      (void)co_await expired(next_connection_);
      continue;
    }
    auto [error, client] = co_await acceptor_.async_accept(kNoThrow);
    if (error && !stopped_) {
      asio::steady_timer pause(executor_, kAfterAFailedAccept);
      (void)co_await expired(pause);
    }
    if (error || stopped_) continue;
    auto passage = std::make_shared<Passage>();
    passage->flow = std::make_shared<Flow>(std::move(client), totals_);
    if (passages_.size() >= std::min<uint64_t>(kMostPassages, policy_.caps.connections.value_or(kMostPassages))) {
      (void)find_destination(*passage);  // so that it is told
      if (passages_.size() < kMostPassages) totals_.felt("connections", "refused");
      deny(*passage, refusal("too many connections at a time"));
      continue;
    }
    passages_.insert(passage);
    spawn(executor_, [self, passage]() -> Task<void> {
      co_await self->serve(passage);
      self->passages_.erase(passage);
    });
  }
}

bool Gate::find_destination(Passage& passage) {
  const std::optional<Destination> wanted = original_destination(passage.flow->client());
  if (!wanted) return false;
  passage.port = wanted->port;
  if (!SyntheticNames::is_synthetic(wanted->address)) {
    passage.address = wanted->address;
    return true;
  }
  const std::string* name = names_.name_of(wanted->address);
  if (name != nullptr) passage.name = *name;
  return name != nullptr;
}

// Why these bytes must not go where the passage leads.
std::optional<Decision> Gate::complaint_of(const Passage& passage, const FirstBytes& bytes) const {
  if (passage.name) {
    std::optional<std::string> why = contradiction(bytes, *passage.name);
    return why ? std::optional(refusal(std::move(*why))) : std::nullopt;
  }
  // To a bare address: it was decided on, and a name in the bytes can only take away.
  if (bytes.kind == FirstBytes::Kind::kRefused) return refusal(bytes.reason);
  if (!bytes.name) return {};
  Decision decision = decide_address(policy_, own_, bytes.name, *passage.address, passage.port);
  if (decision.denied()) return decision;
  // Rules about the name's requests are kept where the connection's requests are decided on one by one.
  const Decision bare = decide_address(policy_, own_, {}, *passage.address, passage.port);
  if (decision.verdict != Verdict::kInspect || bare.verdict == Verdict::kInspect) return {};
  if (!gate_keeps(GateControl::kRequests)) return {};
  return refusal("rules about requests hold for " + *bytes.name + ": connect to it by its name");
}

Task<Gate::First> Gate::look_at_first_bytes(PassagePtr passage, Clock::time_point silent_until) {
  const auto self = shared_from_this();
  FirstBytes found;
  const auto enough = [&found](std::string_view bytes) {
    found = read_first_bytes(bytes);
    return found.kind != FirstBytes::Kind::kNeedMore;
  };
  Flow& flow = *passage->flow;
  std::string bytes;
  (void)co_await flow.peek(bytes, 1, silent_until, [](std::string_view) { return true; });
  if (!flow.client().is_open()) co_return First::kRefused;
  if (bytes.empty()) co_return First::kSilent;
  (void)co_await flow.peek(bytes, kMostFirstBytes, Clock::now() + kMessagePatience, enough);
  if (found.kind == FirstBytes::Kind::kNeedMore) {
    if (may_be_a_whole_message(bytes))
      found.kind = FirstBytes::Kind::kOther;
    else
      (void)co_await flow.peek(bytes, kMostFirstBytes, Clock::now() + kHelloPatience, enough);
  }
  if (!flow.client().is_open()) co_return First::kRefused;
  std::optional<Decision> complaint = complaint_of(*passage, found);
  passage->first = std::move(found);
  if (!complaint) co_return First::kFine;
  deny(*passage, std::move(*complaint));
  co_return First::kRefused;
}

// To the first address that policy allows and that answers. The passage's decision says why not.
Task<ProxyOutcome> Gate::connect(PassagePtr passage) {
  const auto self = shared_from_this();
  std::vector<IpAddress> candidates;
  if (passage->name) {
    Result<std::vector<IpAddress>> found = co_await resolver_.resolve(*passage->name);
    if (found) candidates = std::move(*found);
    if (!found) passage->decision = refusal(found.error().what);
  } else {
    candidates = {*passage->address};
  }
  ProxyOutcome outcome = ProxyOutcome::kFailed;
  size_t tried = 0;
  for (const IpAddress& address : candidates) {
    if (stopped_ || !passage->flow->client().is_open() || tried == kMostAddressesTried) break;
    if (const IpAddress host = reached_by(address); !own_.has(host) && is_own_address(host))
      own_.addresses.push_back(host);  // it is new here
    Decision decision = decide_address(policy_, own_, passage->name, address, passage->port);
    if (decision.denied()) {
      if (tried == 0) passage->decision = std::move(decision);
      if (tried == 0) outcome = ProxyOutcome::kDenied;
      continue;
    }
    ++tried;
    passage->address = address;
    passage->decision = std::move(decision);
    if (passage->name && !gate_keeps(GateControl::kPinning)) {  // asks again, as most proxies do
      if (const auto again = co_await resolver_.resolve(*passage->name)) passage->address = again->front();
    }
    // What programs don't read lies in the kernel, and their memory limits don't count it.
    const auto buffers = passages_.size() <= kMostLargeBuffers ? Flow::Buffers::kGrow : Flow::Buffers::kSmall;
    const auto place = endpoint_of(*passage->address, passage->port);
    const Result<void> connected = co_await passage->flow->connect(place, buffers);
    if (connected) co_return ProxyOutcome::kConnected;
    passage->decision.reason = connected.error().what;
    outcome = ProxyOutcome::kFailed;
  }
  co_return outcome;
}

Flow::Witness Gate::witness_of(const PassagePtr& passage, FirstBytesAre first) {
  Flow::Witness witness;
  const auto self = shared_from_this();
  if (first == FirstBytesAre::kToCome) {
    witness.check_first = [self, passage]() -> Task<bool> {
      const First later = co_await self->look_at_first_bytes(passage, Clock::time_point::max());
      co_return later != First::kRefused;
    };
  } else if (passage->first.kind == FirstBytes::Kind::kTls) {
    return witness;
  }
  const auto requests = std::make_shared<PlainRequests>([self, passage](const HttpHead& head) {
    std::optional<Decision> complaint = self->complaint_of(*passage, first_bytes_of(head));
    return complaint ? std::optional(complaint->reason) : std::nullopt;
  });
  witness.sent = [self, passage, requests, line = FirstLine()](std::string_view bytes) mutable {
    std::optional<std::string> complaint;
    if (passage->first.kind == FirstBytes::Kind::kHttp) complaint = requests->sent(bytes);
    if (passage->first.kind == FirstBytes::Kind::kOther && !line.may_pass(bytes))
      complaint = "a request that servers could read differently";
    if (complaint) self->deny(*passage, refusal(std::move(*complaint)));
    return !complaint;
  };
  witness.answered = [requests](std::string_view bytes) { requests->answered(bytes); };
  return witness;
}

Task<void> Gate::serve(PassagePtr passage) {
  const auto self = shared_from_this();
  if (!original_destination(passage->flow->client())) co_return co_await serve_proxy(passage);
  if (!find_destination(*passage)) co_return deny(*passage, refusal("an address that was given to no name"));
  if (passage->name) {  // the policy may have changed since its address was given out
    if (Decision named = verdict_on(policy_, *passage->name); named.denied())
      co_return deny(*passage, std::move(named));
  }
  // To a place whose TLS is opened, programs speak first.
  const auto patience = may_open(*passage) ? Clock::duration(kHelloPatience) : Clock::duration(kSilence);
  const First first = co_await look_at_first_bytes(passage, Clock::now() + patience);
  if (first == First::kRefused) co_return passage->flow->abort();
  if (const ProxyOutcome outcome = co_await connect(passage); outcome != ProxyOutcome::kConnected) {
    tell(outcome == ProxyOutcome::kDenied ? GateEvent::Kind::kConnectionDenied : GateEvent::Kind::kUpstreamFailed,
         *passage);
    co_return passage->flow->abort();
  }
  if (is_opened(*passage)) co_return co_await serve_opened(passage);
  if (passage->decision.verdict == Verdict::kInspect) {
    if (passage->first.kind != FirstBytes::Kind::kHttp) {
      co_return deny(*passage, refusal("rules about requests hold for HTTP, and this is something else"));
    }
    take(*passage->flow, passage->first.head.size_bytes);
    co_return co_await pass_request(passage, passage->first.head);
  }
  tell(GateEvent::Kind::kConnected, *passage);
  // The server may speak first; what the program says later is looked at all the same.
  const auto then = first == First::kSilent ? FirstBytesAre::kToCome : FirstBytesAre::kChecked;
  co_await passage->flow->forward(witness_of(passage, then));
  tell(GateEvent::Kind::kEnded, *passage);
}

// To a bare address: a Host can only take away, so both what it names and the address must allow it.
Decision Gate::decide_request(const Passage& passage, const HttpHead& head) const {
  HttpRequestFacts facts{passage.name, *passage.address, passage.port, head.method, head.path};
  facts.overrides_method = head.overrides_method;
  facts.overrides_path = head.overrides_path;
  Decision decision = decide_http(policy_, facts);
  if (passage.name || head.authority.name.empty() || decision.denied()) return decision;
  facts.host = head.authority.name;
  Decision named = decide_http(policy_, facts);
  return named.denied() ? named : decision;
}

// It is HTTP, so the program can be told why.
Task<void> Gate::refuse_request(PassagePtr passage, Decision decision) {
  const auto self = shared_from_this();
  passage->decision = std::move(decision);
  tell(GateEvent::Kind::kConnectionDenied, *passage);
  co_await passage->flow->finish(http_refusal("403 Forbidden", passage->decision.reason));
}

Task<void> Gate::pass_request(PassagePtr passage, HttpHead head) {
  const auto self = shared_from_this();
  passage->inspected = true;
  if (passage->decision.verdict == Verdict::kInspect) {
    Decision decision = decide_request(*passage, head);
    if (!decision.denied() && head.overrides_method) decision = refusal("the request overrides its method");
    if (decision.denied()) co_return co_await refuse_request(passage, std::move(decision));
    passage->decision = std::move(decision);
  }
  const std::optional<std::string> text = single_request(head);
  if (!text) co_return co_await refuse_request(passage, refusal("a request whose end can't be told in advance"));
  tell(GateEvent::Kind::kConnected, *passage);
  if (!co_await passage->flow->tell_server(*text)) co_return passage->flow->abort();
  const uint64_t most = gate_keeps(GateControl::kSingle) ? head.content_length.value_or(0) : UINT64_MAX;
  co_await passage->flow->forward({}, most);
  tell(GateEvent::Kind::kEnded, *passage);
}

Task<void> Gate::refuse_proxy(PassagePtr passage, ProxyRequest request, ProxyOutcome outcome) {
  const auto self = shared_from_this();
  tell(outcome == ProxyOutcome::kDenied ? GateEvent::Kind::kConnectionDenied : GateEvent::Kind::kUpstreamFailed,
       *passage);
  (void)co_await passage->flow->tell_client(proxy_answer(request, outcome, passage->decision.reason));
  passage->flow->close();
}

// A program that asks for a proxy is told what went wrong.
Task<void> Gate::serve_proxy(PassagePtr passage) {
  const auto self = shared_from_this();
  const Result<ProxyRequest> asked = co_await read_proxy_request(passage->flow);
  if (!asked) {
    passage->decision = refusal(asked.error().what);
    tell(GateEvent::Kind::kConnectionDenied, *passage);
    co_return passage->flow->close();  // it may have been told why
  }
  passage->port = asked->port;
  if (!asked->name.empty()) passage->name = asked->name;
  passage->address = asked->address;
  if (asked->address && SyntheticNames::is_synthetic(*asked->address)) {
    const std::string* name = names_.name_of(*asked->address);
    if (name != nullptr) passage->name = *name;
    if (name != nullptr) passage->address.reset();
  }
  if (passage->name) {
    if (Decision decision = verdict_on(policy_, *passage->name); decision.denied()) {
      passage->decision = std::move(decision);
      co_return co_await refuse_proxy(passage, *asked, ProxyOutcome::kDenied);
    }
  }
  ProxyOutcome outcome = co_await connect(passage);
  if (outcome == ProxyOutcome::kConnected && passage->decision.verdict == Verdict::kInspect &&
      asked->kind != ProxyRequest::Kind::kAbsolute && !may_open(*passage)) {
    passage->decision = refusal("rules about requests hold for HTTP, and this is a tunnel");
    outcome = ProxyOutcome::kDenied;
  }
  if (outcome != ProxyOutcome::kConnected) co_return co_await refuse_proxy(passage, *asked, outcome);
  if (asked->kind == ProxyRequest::Kind::kAbsolute) co_return co_await pass_request(passage, asked->head);
  if (!co_await passage->flow->tell_client(proxy_answer(*asked, outcome, ""))) co_return passage->flow->abort();
  if (may_open(*passage)) co_return co_await serve_tunnel(passage);
  tell(GateEvent::Kind::kConnected, *passage);
  co_await passage->flow->forward(witness_of(passage, FirstBytesAre::kToCome));
  tell(GateEvent::Kind::kEnded, *passage);
}

}  // namespace bj
