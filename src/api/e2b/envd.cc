#include "api/e2b/envd.h"

#include <boost/json/array.hpp>

#include "api/e2b/sandbox_json.h"
#include "control/sandbox_steps.h"
#include "server/dispatcher.h"
#include "store/crypto.h"
#include "store/sql.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr uint64_t kLargestMessage = 16 << 20;  // parsed on the thread that everybody shares; files go by /files
constexpr uint64_t kLargestContext = 64 << 10;  // what nobody had to show a token for

// "Basic dXNlcjo=": only the name counts.
std::string user_of(const HttpRequest& request) {
  const std::string_view given = request.headers.get("Authorization");
  constexpr std::string_view kBasic = "basic ";
  if (given.size() <= kBasic.size() || !equal_ignoring_case(given.substr(0, kBasic.size()), kBasic)) return {};
  const std::string text = lenient_base64(given.substr(kBasic.size())).value_or("");
  return text.substr(0, text.find(':'));
}

bool has_token(const Services& services, const HttpRequest& request, const SandboxRow& row) {
  return SandboxTokens::same(request.headers.get("X-Access-Token"), services.tokens.control(row.id));
}

// Files may be asked for by a signed link instead.
std::optional<HttpResponse> refusal(const Services& services, const HttpRequest& request, const SandboxRow& row) {
  if (!is_secure(row) || has_token(services, request, row)) return std::nullopt;
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  const bool files = request.path == "/files" && (reads || request.method == Method::kPost);
  if (!files) return plain_error(401, "unauthorized access, please provide a valid access token or method signing");
  if (request.headers.has("X-Access-Token"))
    return plain_error(401, "access token present in header but does not match");
  const std::optional<std::string> problem =
      signature_problem(request, reads ? FileOperation::kRead : FileOperation::kWrite, services.tokens.control(row.id),
                        now_us() / 1'000'000);
  if (problem) return plain_error(401, *problem);
  return std::nullopt;
}

json::object environment_json(const HeldSandbox& sandbox) {
  json::object variables;
  for (const auto& [name, value] : own_variables(sandbox.row)) variables[name] = value;
  for (const auto& [name, value] : sandbox.live->environment()) variables[name] = value;
  return variables;
}

Task<HttpResponse> metrics(const Services& services, std::shared_ptr<HeldSandbox> sandbox) {
  const std::vector<MetricPoint> points = co_await services.metrics.of(sandbox);
  const Result<SandboxMetrics> now = co_await sandbox->live->metrics();
  if (!now) co_return plain_error(500, "the metrics can't be read");
  const uint64_t used = now->memory_bytes - std::min(now->memory_bytes, now->cache_bytes);
  co_return json_response(200, json::object{{"ts", now_us() / 1'000'000},
                                            {"cpu_count", static_cast<int64_t>(now->cpus + 0.999)},
                                            {"cpu_used_pct", points.empty() ? 0.0 : points.back().cpu_percent},
                                            {"mem_total", now->memory_limit_bytes},
                                            {"mem_used", used},
                                            {"mem_cache", now->cache_bytes},
                                            {"mem_total_mib", now->memory_limit_bytes >> 20},
                                            {"mem_used_mib", used >> 20},
                                            {"disk_used", now->disk_bytes},
                                            {"disk_total", now->disk_limit_bytes}});
}

// The whole body, bounded; else why not.
Task<std::optional<HttpResponse>> collect(HttpRequest& request, uint64_t most = kLargestMessage) {
  if (request.body_stream->length().value_or(0) > most) co_return plain_error(413, "the message is too long");
  for (;;) {
    Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return body_failure(piece.error());
    if (piece->empty()) co_return std::nullopt;
    request.body += *piece;
    if (request.body.size() > most) co_return plain_error(413, "the message is too long");
  }
}

Task<RpcResult<void>> check_user(const EnvdCall& call) {
  if (co_await call.files().find_account(call.user)) co_return RpcResult<void>();
  co_return rpc_fail(RpcCode::kUnauthenticated, "invalid username: '" + call.user + "'");
}

HttpResponse streamed(const std::shared_ptr<EnvdCall>& call, StreamCall function) {
  RpcKeepalive keepalive;
  keepalive.every = rpc_keepalive(call->request);
  // Of processes it is an event, of directories it stands alone.
  if (call->request.path.starts_with("/process."))
    keepalive.message = {{"event", json::object{{"keepalive", json::object()}}}};
  else
    keepalive.message = {{"keepalive", json::object()}};
  return rpc_stream(
      [call, function](RpcStream& stream) -> Task<std::optional<RpcError>> {
        const RpcResult<void> known = co_await check_user(*call);
        if (!known) co_return known.error();
        co_return co_await function(*call, stream);
      },
      keepalive);
}

Task<HttpResponse> answer_rpc(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox) {
  const auto call = std::make_shared<EnvdCall>(EnvdCall{services, request, std::move(sandbox), user_of(request), {}});
  const std::string_view path = request.path;
  if (path == "/process.Process/StreamInput") {
    const RpcResult<json::object> done = co_await stream_input(*call);
    HttpResponse response = text_response(200, "application/connect+json", done ? rpc_message(*done) : "");
    response.body += rpc_end(done ? std::nullopt : std::optional(done.error()));
    co_return response;
  }
  const UnaryCall unary = path.starts_with("/process.") ? process_call(path) : filesystem_call(path);
  const StreamCall stream = path.starts_with("/process.") ? process_stream(path) : filesystem_stream(path);
  if (unary == nullptr && stream == nullptr) co_return rpc_response(rpc_fail(RpcCode::kUnimplemented, "no such call"));
  if (std::optional<HttpResponse> unread = co_await collect(request)) co_return std::move(*unread);
  RpcResult<json::object> message = read_rpc_request(request);
  if (stream != nullptr) {
    if (message) call->message = std::move(*message);
    if (message) co_return streamed(call, stream);
    const RpcError error = message.error();
    co_return rpc_stream([error](RpcStream&) -> Task<std::optional<RpcError>> { co_return error; }, {});
  }
  if (!message) co_return rpc_response(tl::unexpected(message.error()));
  call->message = std::move(*message);
  if (const RpcResult<void> known = co_await check_user(*call); !known)
    co_return rpc_response(tl::unexpected(known.error()));
  co_return rpc_response(co_await unary(*call));
}

}  // namespace

HttpResponse plain_error(unsigned status, std::string_view message) {
  return json_response(status, json::object{{"code", status}, {"message", message}});
}

std::string text_in(const json::object& message, std::string_view name) {
  const json::value* const value = message.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool flag_in(const json::object& message, std::string_view name, bool usual) {
  const json::value* const value = message.if_contains(name);
  return value != nullptr && value->is_bool() ? value->get_bool() : usual;
}

std::optional<int64_t> number_in(const json::object& message, std::string_view name) {
  const json::value* const value = message.if_contains(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (!value->is_string()) return std::nullopt;
  const std::string text(value->get_string());
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

const json::object* object_in(const json::object& message, std::string_view name) {
  const json::value* const value = message.if_contains(name);
  return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

Task<HttpResponse> answer_code_port(const Services& services, CodeRunner& code, HttpRequest& request,
                                    std::shared_ptr<HeldSandbox> sandbox) {
  // E2B's clients send the token with code only, not when they list contexts.
  const bool runs = request.path == "/execute";
  if (runs && is_secure(sandbox->row) && !has_token(services, request, sandbox->row))
    co_return plain_error(401, "unauthorized access, please provide a valid access token");
  if (std::optional<HttpResponse> unread = co_await collect(request, runs ? kLargestMessage : kLargestContext))
    co_return std::move(*unread);
  request.actor = owner_of(sandbox->row);
  co_return co_await answer_code_interpreter(request, std::move(sandbox), code);
}

Task<HttpResponse> answer_envd(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox) {
  const std::string& path = request.path;
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  if (path == "/health" && reads) co_return empty_response(204);
  if (std::optional<HttpResponse> refused = refusal(services, request, sandbox->row)) co_return std::move(*refused);
  if (path == "/files") co_return co_await answer_files(services, request, std::move(sandbox));
  if (path == "/files/compose" && request.method == Method::kPost) {
    if (std::optional<HttpResponse> unread = co_await collect(request)) co_return std::move(*unread);
    co_return co_await answer_compose(services, request, std::move(sandbox));
  }
  if (path == "/envs" && reads) co_return json_response(200, environment_json(*sandbox));
  if (path == "/metrics" && reads) co_return co_await metrics(services, std::move(sandbox));
  const bool rpc = path.starts_with("/process.Process/") || path.starts_with("/filesystem.Filesystem/");
  if (rpc && request.method == Method::kPost) co_return co_await answer_rpc(services, request, std::move(sandbox));
  co_return plain_error(404, "there is no such route");
}

}  // namespace bj::e2b
