// The gate of one sandbox: its only way to the network. Answers its DNS, takes the connections that the kernel leads
// here, decides by policy on the name and on the real address, connects to that very address and passes bytes.
//
// Stays on its executor's thread. stop() ends everything at once; the object may then be dropped.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/async.h"
#include "egress/admission.h"
#include "egress/destination.h"
#include "egress/dns_service.h"
#include "egress/first_bytes.h"
#include "egress/flow.h"
#include "egress/gate_event.h"
#include "egress/name_resolver.h"
#include "egress/opened_connection.h"
#include "egress/plain_requests.h"
#include "egress/policy.h"
#include "egress/proxy_request.h"
#include "egress/synthetic_names.h"
#include "egress/tls_authority.h"
#include "launcher/gated_network.h"

namespace bj {

class Gate : public std::enable_shared_from_this<Gate> {
 public:
  // Owns `ends` from here on: after a failure the sandbox has no way out.
  static Result<std::shared_ptr<Gate>> open(const asio::any_io_executor& executor, GateEndpoints ends,
                                            NetworkPolicy policy, GateListener listener,
                                            const std::string& authority = {});
  ~Gate();

  // For a gate that is to be opened again by the next server, with the same `ends`: what it needs for that beside them.
  // The names that programs inside know by address go to `names`, a file; those in it already lead where they led. The
  // other is a secret, for open(); empty: there is none.
  Result<void> remember_in(Fd names);
  Result<std::string> authority() const { return authority_ ? authority_->save() : Result<std::string>(""); }

  // From now on. Connections that it does not allow are reset. After a failure the gate decides by the new policy all
  // the same; what the kernel leads to it may still be by the old one, or less.
  Result<void> change(NetworkPolicy policy);
  // Who is told from now on: for a gate that was opened before its sandbox was somebody's.
  void listen(GateListener listener) { listener_ = std::move(listener); }
  // From now on requests get these; TLS to their places is opened.
  Result<void> give(GateCredentials credentials);
  // For a gate that is given its credentials, or rules about requests, later: makes its certificate now.
  Result<void> ensure_authority();
  // PEM of what programs inside must trust, because the gate opens some TLS; empty: it opens none.
  const TrustedCertificate* certificate() const { return authority_ ? &authority_->certificate() : nullptr; }
  // Every connection ends now; when this returns, the end of each was told and nothing more will be.
  void stop();

 private:
  // A connection on its way: where to, and what was decided.
  struct Passage {
    std::shared_ptr<Flow> flow;
    std::optional<std::string> name;   // absent: made to a bare address
    std::optional<IpAddress> address;  // connected to; before that, of a bare address
    uint16_t port = 0;
    Decision decision;
    FirstBytes first;
    bool inspected = false;  // each request is decided on
    bool open = false;       // told as connected, its end not yet
  };
  using PassagePtr = std::shared_ptr<Passage>;

  Gate(const asio::any_io_executor& executor, GateEndpoints ends, NetworkPolicy policy, GateListener listener);
  Task<void> accept();
  Task<void> serve(PassagePtr passage);
  bool find_destination(Passage& passage);
  enum class First { kFine, kSilent, kRefused };
  // kSilent: nothing came in that time. A message that began gets more.
  Task<First> look_at_first_bytes(PassagePtr passage, Clock::time_point silent_until);
  std::optional<Decision> complaint_of(const Passage& passage, const FirstBytes& bytes) const;
  Task<ProxyOutcome> connect(PassagePtr passage);
  Task<void> serve_proxy(PassagePtr passage);
  Task<void> refuse_proxy(PassagePtr passage, ProxyRequest request, ProxyOutcome outcome);
  // One HTTP request, where rules speak of methods and paths or a proxy was asked for it.
  Task<void> pass_request(PassagePtr passage, HttpHead head);
  Task<void> refuse_request(PassagePtr passage, Decision decision);
  Decision decide_request(const Passage& passage, const HttpHead& head) const;
  // TLS that the gate ends itself (gate_opening.cc).
  bool may_open(const Passage& passage) const;
  bool is_opened(const Passage& passage) const;
  Task<void> serve_opened(PassagePtr passage);
  Task<void> serve_tunnel(PassagePtr passage);
  OpenedConnection::Terms terms_for(const PassagePtr& passage);
  // Looks at what passes unread otherwise: the first bytes, if that was not done yet, and each plain request.
  enum class FirstBytesAre { kChecked, kToCome };
  Flow::Witness witness_of(const PassagePtr& passage, FirstBytesAre first);
  std::string answer_dns(std::string_view message, DnsTransport transport);
  DnsAnswer answer_query(const DnsQuery& query);
  Result<SyntheticPair> admit(const NameDecision& decision);
  void deny(Passage& passage, Decision decision);
  void keep_caps();
  void tell_refused();
  void deny_name(const std::string& name, Decision decision) const;
  void tell_cap(const std::string& cap, const std::string& what) const;
  void tell(GateEvent::Kind kind, Passage& passage) const;

  static constexpr auto kHelloPatience = std::chrono::seconds(15);
  static constexpr auto kMessagePatience = std::chrono::seconds(1);  // with bytes that may be all of another protocol

  asio::any_io_executor executor_;
  asio::ip::tcp::acceptor acceptor_;
  std::shared_ptr<DnsService> dns_;
  Admission admission_;
  NetworkPolicy policy_;
  NameResolver resolver_;
  OwnAddresses own_;
  GateListener listener_;
  SyntheticNames names_;
  std::map<std::string, std::vector<PortRange>> admitted_;
  std::set<PassagePtr> passages_;
  GateCredentials credentials_;
  std::shared_ptr<const ForbiddenTexts> forbidden_;
  std::shared_ptr<BodyTurns> bodies_;
  std::unique_ptr<TlsAuthority> authority_;
  FlowTotals totals_;
  asio::steady_timer next_connection_;  // while their rate is capped
  bool stopped_ = false;
};

}  // namespace bj
