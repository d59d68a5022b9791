#include "selftest/attack_base.h"

#include <unistd.h>

namespace bj::selftest {

Result<AttackBase> AttackBase::make(const TemplateStore& store, const std::string& name) {
  AttackBase base;
  if (name != "base") {
    BJ_TRY(base.image, store.find(name));
    return base;
  }
  if (::geteuid() == 0) {
    if (Result<Canary> secret = Canary::place(kRootOnlyPath)) base.secret.emplace(std::move(*secret));
  }
  BJ_TRY(base.image, TemplateStore(store.directory() + "/base/attacks").find(name));
  return base;
}

}  // namespace bj::selftest
