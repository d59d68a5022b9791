#include "service/sandbox_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "tools/stored_json.h"

namespace bj {
namespace {

// What its Host header says inside: what the sandbox's owner wants it to, what the client said if that names the
// sandbox, else what a program that listens there expects.
std::string host_inside(const SandboxRow& row, const Traffic& traffic) {
  const boost::json::object details = stored_object(row.details);
  const boost::json::value* const mask = details.if_contains("mask_host");
  if (mask != nullptr && mask->is_string() && !mask->get_string().empty()) {
    std::string host(mask->get_string());
    constexpr std::string_view kPort = "${PORT}";
    if (const size_t at = host.find(kPort); at != std::string::npos)
      host.replace(at, kPort.size(), std::to_string(traffic.port));
    return host;
  }
  return traffic.by == Traffic::By::kHost ? "" : fmt::format("localhost:{}", traffic.port);
}

// What its owner says of the port (network.httpsPorts).
preview::Speaks speech_at(const SandboxRow& row, uint16_t port) {
  const boost::json::object details = stored_object(row.details);
  const boost::json::value* const secure = details.if_contains("https_ports");
  if (secure == nullptr || !secure->is_array()) return preview::Speaks::kPlain;
  const boost::json::array& ports = secure->get_array();
  const bool listed = std::find(ports.begin(), ports.end(), boost::json::value(port)) != ports.end();
  return listed ? preview::Speaks::kTls : preview::Speaks::kPlain;
}

}  // namespace

std::set<uint16_t> SandboxTraffic::served_ports() const {
  std::set<uint16_t> ports;
  for (const auto& [port, served] : ports_) ports.insert(port);
  return ports;
}

Task<HttpResponse> SandboxTraffic::answer(HttpRequest& request, const Traffic& traffic) {
  const auto served = ports_.find(traffic.port);
  const bool own_guard = served != ports_.end() && served->second.guard == Guard::kOwn;
  // First who may: a stranger does not wake one that sleeps.
  const auto known = services_.manager.all_held().find(traffic.sandbox);
  if (known != services_.manager.all_held().end() && !own_guard) {
    const SandboxRow row = known->second->row;
    if (std::optional<HttpResponse> refused = co_await preview::refusal(services_, request, traffic, row))
      co_return std::move(*refused);
  }
  const Result<std::shared_ptr<HeldSandbox>> sandbox = co_await services_.manager.for_traffic(traffic.sandbox);
  if (!sandbox) co_return preview::not_found(request, traffic);
  if (served == ports_.end())
    co_return co_await preview::pass(*sandbox, request, traffic, host_inside((*sandbox)->row, traffic),
                                     speech_at((*sandbox)->row, traffic.port));
  request.path = traffic.path;
  co_return co_await served->second.handler(request, *sandbox);
}

}  // namespace bj
