#include "api/preview/pages.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "api/preview/preview.h"

namespace bj::preview {
namespace {

// Nothing that a stranger wrote stands in it: ids are of a-z and 0-9.
HttpResponse page(unsigned status, const Traffic& traffic, std::string_view title, std::string_view sentence,
                  std::string_view head) {
  HttpResponse response = text_response(
      status, "text/html; charset=utf-8",
      fmt::format("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">{}<title>{}</title><style>"
                  "body{{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto;padding:0 1rem}}"
                  "code{{background:#8882;padding:.1em .3em}}</style></head><body><h1>{}</h1><p>{}</p>"
                  "<p><code>{}</code>, port <code>{}</code></p></body></html>",
                  head, title, title, sentence, traffic.sandbox, traffic.port));
  response.headers.add("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  return response;
}

}  // namespace

bool is_page_visit(const HttpRequest& request) {
  if (request.method != Method::kGet) return false;
  const std::string_view mode = request.headers.get("Sec-Fetch-Mode");
  if (!mode.empty()) return mode == "navigate";
  return request.headers.get("Accept").find("text/html") != std::string_view::npos;
}

HttpResponse error_answer(const HttpRequest& request, const Traffic& traffic, unsigned status,
                          std::string_view sentence) {
  if (is_page_visit(request)) return page(status, traffic, "Not here", sentence, "");
  return json_response(
      status, boost::json::object{
                  {"sandboxId", traffic.sandbox}, {"message", sentence}, {"port", traffic.port}, {"code", status}});
}

HttpResponse closed_port(const HttpRequest& request, const Traffic& traffic) {
  constexpr std::string_view kSentence = "The sandbox is running but port is not open";
  if (!is_page_visit(request)) return error_answer(request, traffic, 502, kSentence);
  return page(502, traffic, "Waiting",
              "The sandbox runs, and nobody listens on this port yet. This page asks again by itself.",
              "<meta http-equiv=\"refresh\" content=\"1\">");
}

HttpResponse not_found(const HttpRequest& request, const Traffic& traffic) {
  constexpr std::string_view kSentence = "The sandbox was not found";
  if (is_page_visit(request)) return error_answer(request, traffic, 502, kSentence);
  return json_response(502, boost::json::object{{"sandboxId", traffic.sandbox}, {"message", kSentence}, {"code", 502}});
}

}  // namespace bj::preview
