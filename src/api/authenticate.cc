#include "api/authenticate.h"

#include "base/id.h"

namespace bj {
namespace {

constexpr std::string_view kBearer = "bearer ";
constexpr std::string_view kPassword = "password ";
constexpr size_t kLongestKey = 200;

std::string_view after(std::string_view text, std::string_view prefix) {
  const std::string_view start = text.substr(0, prefix.size());
  if (start.size() != prefix.size() || !equal_ignoring_case(start, prefix)) return {};
  text.remove_prefix(prefix.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

// Two keys in one request are nobody's.
Result<Secret> key_of(const HttpRequest& request) {
  const Headers& headers = request.headers;
  const size_t count = headers.count("authorization") + headers.count("x-bare-password") + headers.count("x-api-key");
  const std::string_view key = headers.has("authorization")     ? after(headers.get("authorization"), kBearer)
                               : headers.has("x-bare-password") ? after(headers.get("x-bare-password"), kPassword)
                                                                : headers.get("x-api-key");
  if (count != 1 || key.empty() || key.size() > kLongestKey) return fail(Code::kDenied, "Unauthorized");
  return Secret(key);
}

Result<Actor> find_actor(Store& store, const Secret& key, const std::string& user) {
  BJ_TRY(const std::optional<ApiKeyRow> row, store.api_keys().find(key));
  if (!row) return fail(Code::kDenied, "Unauthorized");
  (void)store.api_keys().touch(*row);  // a note of use is not worth failing a request
  Actor actor{row->organization, row->user, row->id, row->role, row->limits};
  if (user.empty() || user == actor.user) return actor;
  BJ_TRY(const std::optional<UserRow> named, store.users().find(user));
  if (named && named->organization == actor.organization) actor.user = named->id;
  return actor;
}

}  // namespace

Authenticate authenticate_by_key(Store& store, asio::thread_pool& threads) {
  return [&store, &threads](const HttpRequest& request) -> Task<Result<Actor>> {
    BJ_CO_TRY(const Secret key, key_of(request));
    const std::string user(request.headers.get("user_id"));
    if (!user.empty() && !is_id("user", user)) {
      co_return fail(Code::kInvalid, "the user_id header must be user-<uuid4>");
    }
    const auto find = [&store, &key, &user] { return find_actor(store, key, user); };
    co_return co_await offload(threads, find);
  };
}

}  // namespace bj
