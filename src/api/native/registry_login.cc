#include "api/native/registry_login.h"

namespace bj::native {

namespace json = boost::json;

void read_registry(ModelReader& reader, RegistryLogin& login) {
  const json::value* const value = reader.take("registry", NullCounts::kAsAbsent);
  if (value == nullptr) return;
  ModelReader registry(*value, reader.loc("registry"), reader.errors());
  login.user = registry.string("username");
  login.password = Secret::take(registry.string("password"));
  registry.finish(UnknownKeys::kForbid);
}

}  // namespace bj::native
