#include "cli/record_act.h"

#include "audit/chain.h"
#include "audit/event.h"
#include "audit/notary.h"
#include "cli/say.h"
#include "store/sql.h"

namespace bj {

Result<void> record_act(Store& store, const std::string& data_directory, Actor actor, std::string action,
                        std::string subject, boost::json::object detail) {
  Event event;
  event.action = std::move(action);
  event.actor = std::move(actor);
  event.subject = std::move(subject);
  event.detail = std::move(detail);
  event.detail["via"] = "command line";
  std::vector<AuditRow> events{row_of(event, now_us())};
  BJ_CHECK(append(store.audit(), events));
  BJ_TRY(const Notary notary, Notary::open(data_directory));
  // The act and its receipt are there; that nothing is signed must be known, but undoes neither.
  if (const auto head = notary.checkpoint(store.audit()); !head) complain(head.error().what);
  return {};
}

}  // namespace bj
