// What comes to ports of sandboxes from outside: finds the sandbox, checks who may, and hands the request to whoever
// serves that port: we ourselves, for the ports that E2B's clients talk to, else the sandbox.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "api/preview/preview.h"

namespace bj {

class SandboxTraffic {
 public:
  using PortHandler = std::function<Task<HttpResponse>(HttpRequest&, std::shared_ptr<HeldSandbox>)>;
  enum class Guard { kTraffic, kOwn };  // kOwn: the handler asks for its own proof

  explicit SandboxTraffic(preview::Services services) : services_(std::move(services)) {}

  // From now on that port of every sandbox is served here.
  void serve_port(uint16_t port, Guard guard, PortHandler handler) { ports_[port] = {guard, std::move(handler)}; }

  std::set<uint16_t> served_ports() const;

  Task<HttpResponse> answer(HttpRequest& request, const Traffic& traffic);

 private:
  struct Served {
    Guard guard = Guard::kTraffic;
    PortHandler handler;
  };

  preview::Services services_;
  std::map<uint16_t, Served> ports_;
};

}  // namespace bj
