#include "api/receive_files.h"

#include "server/dispatcher.h"

namespace bj {

Task<std::optional<HttpResponse>> receive_files(TemplateServices services, HttpRequest& request,
                                                std::string organization, std::string hash) {
  const auto begin = [&] { return services.files.upload(organization, hash); };
  auto upload = co_await offload(services.threads, begin);
  if (!upload) co_return error_response(upload.error());
  for (;;) {
    const Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return body_failure(piece.error());
    if (piece->empty()) break;
    const auto write = [&] { return (*upload)->write(*piece); };
    const Result<void> written = co_await offload(services.threads, write);
    if (!written) co_return error_response(written.error());
  }
  const auto finish = [&] { return (*upload)->finish(); };
  const Result<void> finished = co_await offload(services.threads, finish);
  if (!finished) co_return error_response(finished.error());
  co_return std::nullopt;
}

}  // namespace bj
