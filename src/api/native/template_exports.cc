// /v1/templates/{template}/export: a template as a docker-archive. In one answer, which begins when all is packed; or
// as events that tell how far it is, the last of which names what is then fetched.
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/template_routes.h"
#include "api/route_group.h"
#include "base/id.h"
#include "server/event_stream.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr size_t kPiece = 256 << 10;

// In pieces, each read when the one before is on its way.
HttpResponse archive_response(TemplateServices services, const ExportedTemplate& made) {
  HttpResponse response;
  response.headers.set("Content-Type", "application/x-tar");
  response.stream_bytes = made.size;
  response.stream = [services, made](BodyWriter& body) -> Task<void> {
    for (uint64_t at = 0; at < made.size;) {
      const auto read = [&]() -> std::string {
        std::string piece(kPiece, '\0');
        const ssize_t n = ::pread(made.file->get(), piece.data(), piece.size(), static_cast<off_t>(at));
        piece.resize(n > 0 ? static_cast<size_t>(n) : 0);
        return piece;
      };
      std::string piece = co_await offload(services.threads, read);
      if (piece.empty()) co_return;
      at += piece.size();
      if (!co_await body.write(std::move(piece))) co_return;
    }
  };
  return response;
}

Task<Result<ExportedTemplate>> pack(TemplateServices services, Actor actor, ResolvedTemplate resolved,
                                    ExportProgress progress) {
  const std::string id = resolved.id;
  const std::string name = resolved.names.empty() ? id : resolved.names.front();
  BJ_CO_TRY(const ExportedTemplate made, co_await services.exporter.export_archive(
                                             actor.organization, std::move(resolved), name, std::move(progress)));
  BJ_CO_CHECK(co_await services.audit.act(std::move(actor), "template.export", id, {{"bytes", made.size}}));
  co_return made;
}

// What is packed, as it goes on; then where it is, or why not.
Task<void> tell_packing(TemplateServices services, Actor actor, std::shared_ptr<ResolvedTemplate> resolved,
                        EventStream& events) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  struct State {
    explicit State(const asio::any_io_executor& its) : changed(its, Clock::time_point::max()) {}
    asio::steady_timer changed;  // never expires: cancelled when there is something to tell
    uint64_t bytes = 0;
    bool wanted = true;
    std::optional<Result<ExportedTemplate>> outcome;
  };
  const auto state = std::make_shared<State>(executor);
  const std::string note = what_is_exported(resolved->content);
  if (!note.empty()) (void)co_await events.send("note", json::serialize(json::object{{"message", note}}));
  spawn(executor, [=]() -> Task<void> {
    const auto progress = [state](uint64_t bytes) {
      state->bytes = bytes;
      state->changed.cancel();
      return state->wanted;
    };
    state->outcome = co_await pack(services, actor, std::move(*resolved), progress);
    state->changed.cancel();
  });
  for (uint64_t told = 0; !state->outcome;) {
    if (state->bytes == told) (void)co_await expired(state->changed);
    const json::object progress{{"bytes", state->bytes}};
    const bool more = std::exchange(told, state->bytes) != state->bytes;
    state->wanted = more ? co_await events.send("progress", json::serialize(progress)) : co_await events.heartbeat();
  }
  const Result<ExportedTemplate>& made = *state->outcome;
  if (!made) {
    (void)co_await events.send("failed", json::serialize(json::object{{"detail", made.error().what}}));
  } else if (!events.gone()) {
    const std::string id = services.exporter.keep(actor.organization, *made);
    (void)co_await events.send("end", json::serialize(json::object{{"export_id", id}, {"size_bytes", made->size}}));
  }
}

Task<Result<HttpResponse>> export_template(TemplateServices services, HttpRequest& request) {
  const std::string reference = request.parameter("template");
  const auto find = [&] { return services.catalog.resolve(request.actor.organization, reference); };
  BJ_CO_TRY(ResolvedTemplate resolved, co_await offload(services.threads, find));
  if (request.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    const auto held = std::make_shared<ResolvedTemplate>(std::move(resolved));
    co_return event_stream([services, actor = request.actor, held](EventStream& events) {
      return tell_packing(services, actor, held, events);
    });
  }
  BJ_CO_TRY(const ExportedTemplate made,
            co_await pack(services, request.actor, std::move(resolved), [](uint64_t) { return true; }));
  co_return archive_response(services, made);
}

Task<Result<HttpResponse>> fetch(TemplateServices services, HttpRequest& request) {
  const std::optional<ExportedTemplate> made =
      services.exporter.kept(request.actor.organization, request.parameter("export_id"));
  if (!made) co_return fail(Code::kNotFound, "there is no such archive, or not any more: export it again");
  co_return archive_response(services, *made);
}

}  // namespace

void add_template_export_routes(Router& router, TemplateServices services) {
  RouteGroup<TemplateServices> group(router, "/v1/templates", "templates", services);
  const json::value object = json::object{{"type", "object"}};
  group.add(Method::kGet, "/{template}/export", export_template,
            "The template as a docker-archive that other tools read; with Accept: text/event-stream, how its packing "
            "goes on, and what to fetch then",
            nullptr, object, {Access::kByMethod, {}, Work::kRun});
  group.add(Method::kGet, "/{template}/exports/{export_id}", fetch, "An archive that was packed within ten minutes",
            nullptr, object);
}

}  // namespace bj::native
