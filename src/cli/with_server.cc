#include "cli/with_server.h"

#include <boost/json/object.hpp>

#include "cli/context.h"
#include "cli/say.h"
#include "cli/with_engine.h"

namespace bj {

int report_failure(const Error& error) {
  complain(error.what);
  return error.code == Code::kInvalid || error.code == Code::kNotFound ? kExitUsage : status_of(error);
}

int with_server(const std::string& url, const Settings& settings,
                const std::function<Result<int>(ServerClient&)>& work) {
  Result<ServerClient> server = ServerClient::open(settings, url);
  if (!server) return report_failure(server.error());
  const Result<int> status = work(*server);
  return status ? *status : report_failure(status.error());
}

std::string text_at(const boost::json::value& object, std::string_view key) {
  const boost::json::value* const found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

}  // namespace bj
