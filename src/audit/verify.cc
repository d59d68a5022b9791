#include "audit/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/chain.h"

namespace bj {
namespace {

constexpr int64_t kPage = 2000;
constexpr int64_t kClockSlack_us = 5'000'000;  // several servers' clocks, and events that waited for their batch
constexpr size_t kMostNotes = 20;

class Verifier {
 public:
  Verifier(AuditTable& table, const VerifyOptions& options) : table_(table), options_(options) {}

  Result<AuditReport> run() {
    BJ_TRY(const int64_t misplaced, table_.count_misplaced());
    if (misplaced > 0)
      return found({AuditFault::kChanged, 0,
                    fmt::format("{} rows stand outside of the chain, before its first event or without a number: they "
                                "were not written by it",
                                misplaced)});
    BJ_TRY(const AuditEnds ends, table_.ends());
    if (const auto bad = check_known_heads()) return found(*bad);
    const int64_t last = ends.last_sequence;
    while (end_.sequence < last) {
      BJ_TRY(const std::vector<AuditRow> page, table_.range(end_.sequence + 1, last, kPage));
      BJ_TRY(const std::optional<AuditProblem> bad, check_page(page));
      if (bad) return found(*bad);
      if (options_.progress) options_.progress(end_.sequence, last);
    }
    if (const auto bad = check_end(ends)) return found(*bad);
    return report_;
  }

 private:
  using Verdict = std::optional<AuditProblem>;

  AuditReport found(AuditProblem problem) {
    report_.problem = std::move(problem);
    return report_;
  }

  const PublicKey* key_of(const std::string& id) const {
    for (const PublicKey& key : options_.keys)
      if (key.id() == id) return &key;
    return nullptr;
  }

  Verdict check_signature(const AuditCheckpointRow& head, const char* where) const {
    const PublicKey* const key = key_of(head.key_id);
    if (!key)
      return AuditProblem{AuditFault::kBadSignature, head.sequence,
                          fmt::format("{} at event {} is signed by the unknown key {}: if it is one of your servers', "
                                      "give its public key",
                                      where, head.sequence, head.key_id)};
    if (signature_holds(*key, head)) return std::nullopt;
    return AuditProblem{AuditFault::kBadSignature, head.sequence,
                        fmt::format("the signature of {} at event {} is wrong", where, head.sequence)};
  }

  Verdict check_known_heads() {
    for (const AuditCheckpointRow& head : options_.known_heads) {
      if (const Verdict bad = check_signature(head, "the kept head")) return bad;
      if (head.sequence > 0) missing_heads_.emplace(head.sequence, head);
    }
    if (const auto& end = options_.last_end) {
      if (const Verdict bad = check_signature(*end, "the kept end")) return bad;
      missing_heads_.emplace(end->sequence, *end);
    }
    return std::nullopt;
  }

  // What stands where another event should be: was that one moved, or was this one changed?
  Result<Verdict> name_damage(const AuditRow& row) {
    BJ_TRY(const std::optional<int64_t> moved_to, table_.follower_of(end_.hash));
    if (moved_to && *moved_to != row.sequence)
      return Verdict({AuditFault::kReordered, row.sequence,
                      fmt::format("event {} stands at {}: events were moved", row.sequence, *moved_to)});
    return Verdict({AuditFault::kChanged, row.sequence,
                    fmt::format("event {} is not what was written: a field or its hash was changed", row.sequence)});
  }

  Result<Verdict> check_event(const AuditRow& row) {
    const int64_t expected = end_.sequence + 1;
    if (row.sequence != expected)
      return Verdict({AuditFault::kGap, expected,
                      fmt::format("event {} is missing: after {} comes {}", expected, end_.sequence, row.sequence)});
    BJ_TRY(const std::string hash, event_hash(row));
    if (hash != row.hash) return name_damage(row);
    if (row.previous_hash != end_.hash)
      return Verdict(
          {AuditFault::kRewritten, expected,
           fmt::format("event {} does not follow event {}: one of them was written anew", expected, end_.sequence)});
    note_clock(row);
    end_ = {row.sequence, row.hash};
    report_.events++;
    return Verdict();
  }

  void note_clock(const AuditRow& row) {
    if (row.time + kClockSlack_us < latest_time_) {
      if (report_.notes.size() < kMostNotes)
        report_.notes.push_back(fmt::format("the clock went back {:.1f} s at event {}",
                                            static_cast<double>(latest_time_ - row.time) / 1e6, row.sequence));
      latest_time_ = row.time;  // one note a jump
    }
    latest_time_ = std::max(latest_time_, row.time);
  }

  Verdict check_checkpoint(const AuditCheckpointRow& checkpoint, const std::string& hash) {
    if (const Verdict bad = check_signature(checkpoint, "the checkpoint")) return bad;
    if (checkpoint.hash != hash)
      return AuditProblem{AuditFault::kRewritten, checkpoint.sequence,
                          fmt::format("event {} is not the one that was signed: the chain up to it was written anew",
                                      checkpoint.sequence)};
    if (checkpoint.key_id == options_.lost_heads_of)
      return AuditProblem{
          AuditFault::kNoKeptHead, checkpoint.sequence,
          "audit.head or audit.tail is missing from the data directory, so a chain that was cut would not "
          "be found; if they were removed on purpose, `belljar audit head` makes them anew"};
    report_.checkpoints++;
    report_.signed_up_to = checkpoint.sequence;
    return std::nullopt;
  }

  // Signed heads of this event: the checkpoints, and what was kept elsewhere.
  Verdict check_heads_at(const AuditRow& row, const std::vector<AuditCheckpointRow>& checkpoints) {
    for (const AuditCheckpointRow& checkpoint : checkpoints) {
      if (checkpoint.sequence != row.sequence) continue;
      if (const Verdict bad = check_checkpoint(checkpoint, row.hash)) return bad;
    }
    const auto [first, last] = missing_heads_.equal_range(row.sequence);
    for (auto kept = first; kept != last; ++kept) {
      if (kept->second.hash != row.hash)
        return AuditProblem{
            AuditFault::kRewritten, row.sequence,
            fmt::format("event {} is not the one of the kept head: the chain up to it was written anew", row.sequence)};
      const auto same = [&](const AuditCheckpointRow& one) {
        return one.sequence == row.sequence && one.key_id == kept->second.key_id;
      };
      const bool is_end = options_.last_end && options_.last_end->signature == kept->second.signature;
      if (!is_end && std::none_of(checkpoints.begin(), checkpoints.end(), same))
        return AuditProblem{AuditFault::kNoCheckpoint, row.sequence,
                            fmt::format("the checkpoint of event {} was removed", row.sequence)};
      report_.signed_up_to = std::max(report_.signed_up_to, row.sequence);
    }
    missing_heads_.erase(first, last);
    return std::nullopt;
  }

  Result<Verdict> check_page(const std::vector<AuditRow>& page) {
    if (page.empty())
      return Verdict({AuditFault::kGap, end_.sequence + 1, fmt::format("event {} is missing", end_.sequence + 1)});
    BJ_TRY(const std::vector<AuditCheckpointRow> checkpoints,
           table_.checkpoints(end_.sequence + 1, page.back().sequence));
    auto next = checkpoints.begin();
    for (const AuditRow& row : page) {
      BJ_TRY(Verdict bad, check_event(row));
      if (bad) return bad;
      const auto here = std::find_if(next, checkpoints.end(), [&](const auto& c) { return c.sequence > row.sequence; });
      if (Verdict wrong = check_heads_at(row, {next, here})) return wrong;
      next = here;
    }
    return Verdict();
  }

  Verdict check_end(const AuditEnds& ends) const {
    const int64_t next = end_.sequence + 1;
    if (!missing_heads_.empty())
      return AuditProblem{AuditFault::kTruncated, next,
                          fmt::format("the chain ends at event {}, but a kept head proves that there were {}: it was "
                                      "cut, or the database was put back to an older state",
                                      end_.sequence, missing_heads_.rbegin()->first)};
    if (ends.last_checkpoint > end_.sequence)
      return AuditProblem{AuditFault::kTruncated, next,
                          fmt::format("the chain ends at event {}, but event {} was signed: the end was cut off",
                                      end_.sequence, ends.last_checkpoint)};
    if (ends.head && ends.head->sequence == end_.sequence && ends.head->hash == end_.hash) return std::nullopt;
    return AuditProblem{AuditFault::kTruncated, next,
                        fmt::format("the chain ends at event {}, but its head is {}", end_.sequence,
                                    ends.head ? fmt::format("event {}", ends.head->sequence) : "missing")};
  }

  AuditTable& table_;
  const VerifyOptions& options_;
  AuditLink end_{0, kFirstPreviousHash};
  int64_t latest_time_ = 0;
  std::multimap<int64_t, AuditCheckpointRow> missing_heads_;
  AuditReport report_;
};

}  // namespace

std::string_view fault_name(AuditFault fault) {
  switch (fault) {
    case AuditFault::kChanged: return "changed";
    case AuditFault::kGap: return "gap";
    case AuditFault::kReordered: return "reordered";
    case AuditFault::kRewritten: return "rewritten";
    case AuditFault::kTruncated: return "truncated";
    case AuditFault::kBadSignature: return "bad_signature";
    case AuditFault::kNoCheckpoint: return "no_checkpoint";
    case AuditFault::kNoKeptHead: break;
  }
  return "no_kept_head";
}

Result<AuditReport> verify_chain(AuditTable& table, const VerifyOptions& options) {
  return Verifier(table, options).run();
}

}  // namespace bj
