#include "audit/chain.h"

#include <span>

#include "store/crypto.h"

namespace bj {
namespace {

constexpr std::string_view kDomain = "belljar-audit-event-v1";
constexpr uint64_t kAbsent = ~uint64_t{0};  // instead of a length

void put_number(std::string& out, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

void put_maybe(std::string& out, const MaybeText& text) {
  if (text) {
    put_text(out, *text);
  } else {
    put_number(out, kAbsent);
  }
}

// A batch whose commit was not heard of comes again, with newer events behind it: those are not there yet.
Result<size_t> count_there(Transaction& transaction, const std::vector<AuditRow>& events) {
  size_t count = 0;
  for (; count < events.size(); ++count) {
    BJ_TRY(const bool there, AuditTable::has_event(transaction, events[count].id));
    if (!there) break;
  }
  return count;
}

}  // namespace

std::string canonical_bytes(const AuditRow& row) {
  std::string out;
  out.reserve(512 + row.detail.size());
  put_text(out, kDomain);
  put_text(out, row.previous_hash);
  put_number(out, static_cast<uint64_t>(row.sequence));
  put_text(out, row.id);
  put_number(out, static_cast<uint64_t>(row.time));
  put_text(out, row.organization);
  put_maybe(out, row.user);
  put_maybe(out, row.key);
  put_text(out, row.kind);
  put_text(out, row.action);
  put_maybe(out, row.subject);
  put_text(out, row.outcome);
  put_maybe(out, row.call_id);
  put_text(out, row.detail);
  return out;
}

Result<std::string> event_hash(const AuditRow& row) {
  BJ_TRY(const std::string hash, sha256(canonical_bytes(row)));
  return to_hex(hash);
}

Result<AuditLink> append(Transaction& transaction, std::vector<AuditRow>& events) {
  BJ_TRY(AuditLink end, AuditTable::lock_head(transaction));
  BJ_TRY(const size_t there, count_there(transaction, events));
  const std::span<AuditRow> fresh = std::span(events).subspan(there);
  if (fresh.empty()) return end;
  for (AuditRow& event : fresh) {
    event.sequence = end.sequence + 1;
    event.previous_hash = end.hash;
    BJ_TRY(event.hash, event_hash(event));
    end = {event.sequence, event.hash};
  }
  BJ_CHECK(AuditTable::insert(transaction, fresh));
  BJ_CHECK(AuditTable::set_head(transaction, end));
  return end;
}

Result<AuditLink> append(AuditTable& table, std::vector<AuditRow>& events) {
  AuditLink end;
  const auto work = [&](Transaction& transaction) -> Result<void> {
    BJ_TRY(end, append(transaction, events));
    return {};
  };
  BJ_CHECK(table.database().transact(work));
  return end;
}

}  // namespace bj
