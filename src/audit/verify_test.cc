// Attacks on the audit by somebody who can write the database, and partly the data directory. Each begins with a chain
// that verifies: what is found afterwards is the attack.
#include "audit/verify.h"

#include <gtest/gtest.h>

#include "audit/audit_test_support.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

class VerifyTest : public AuditTest {
 protected:
  void SetUp() override {
    AuditTest::SetUp();
    if (IsSkipped()) return;
    fill(1, 6);
    sign();
    fill(7, 10);
    sign();
    expect_intact(10);
  }

  // A forger without the key: computes everything from `first` on anew, after a change to that event.
  void rewrite_from(int64_t first) {
    auto rows = store_->audit().range(first, 1000, 1000);
    ASSERT_TRUE(rows);
    std::string previous = first == 1 ? kFirstPreviousHash : store_->audit().get(first - 1)->hash;
    rows->front().outcome = "forged";
    for (AuditRow& row : *rows) {
      row.previous_hash = previous;
      row.hash = *event_hash(row);
      previous = row.hash;
    }
    const auto done = store_->database().transact([&](Transaction& transaction) -> Result<void> {
      BJ_CHECK(transaction.run("DELETE FROM audit_events WHERE sequence >= $1", {first}));
      BJ_CHECK(AuditTable::insert(transaction, *rows));
      return AuditTable::set_head(transaction, {rows->back().sequence, rows->back().hash});
    });
    ASSERT_TRUE(done) << done.error().what;
  }

  void cut_after(int64_t last) {
    const AuditRow end = *store_->audit().get(last);
    tamper("DELETE FROM audit_events WHERE sequence > " + std::to_string(last));
    tamper("UPDATE audit_head SET sequence = " + std::to_string(last) + ", hash = '" + end.hash + "'");
  }
};

TEST_P(VerifyTest, AnUntouchedChainIsIntactAndSignedToItsEnd) {
  const AuditReport report = verify();
  EXPECT_EQ(report.checkpoints, 2);
  EXPECT_EQ(report.signed_up_to, 10);
  EXPECT_TRUE(report.notes.empty());
  reopen();
  expect_intact(10);
}

TEST_P(VerifyTest, AnEmptyChainIsIntact) {
  tamper("DELETE FROM audit_checkpoints");
  tamper("DELETE FROM audit_events");
  tamper("UPDATE audit_head SET sequence = 0, hash = '" + std::string(kFirstPreviousHash) + "'");
  VerifyOptions options;  // nobody kept a head
  EXPECT_FALSE(verify_chain(store_->audit(), options)->problem);
  expect_fault(AuditFault::kTruncated, 1);  // but we did
}

TEST_P(VerifyTest, EveryChangedFieldIsFound) {
  const AuditRow whole = *store_->audit().get(4);
  const std::string changes[] = {
      "time_us = time_us + 1", "organization_id = 'org-x'", "user_id = NULL",    "key_id = NULL",  "kind = 'server'",
      "action = 'tool.walk'",  "subject = 'tool-x'",        "outcome = 'error'", "call_id = NULL", "detail = '{}'",
      "id = 'event-x'",        "hash = previous_hash"};
  for (const std::string& change : changes) {
    SCOPED_TRACE(change);
    tamper("UPDATE audit_events SET " + change + " WHERE sequence = 4");
    expect_fault(AuditFault::kChanged, 4);
    tamper("DELETE FROM audit_events WHERE sequence = 4");
    ASSERT_TRUE(store_->database().transact(
        [&](Transaction& transaction) { return AuditTable::insert(transaction, std::span(&whole, 1)); }));
    expect_intact(10);
  }
  tamper("UPDATE audit_events SET previous_hash = hash WHERE sequence = 4");
  expect_fault(AuditFault::kChanged, 4);
}

// A forged event there would be shown and exported, but follows nothing.
TEST_P(VerifyTest, WhatStandsBeforeTheFirstEventIsFoundAndNotShown) {
  for (const char* const place : {"0", "-5"}) {
    tamper(std::string("INSERT INTO audit_events SELECT ") + place +
           ", 'event-x', time_us, organization_id, user_id, key_id, kind, action, subject, outcome, call_id, detail, "
           "previous_hash, hash FROM audit_events WHERE sequence = 5");
    expect_fault(AuditFault::kChanged, 0);
    EXPECT_EQ(store_->audit().get(std::stoll(place)).error().code, Code::kNotFound);
    AuditFilter filter;
    filter.after = -9;
    EXPECT_EQ(store_->audit().list(filter)->size(), 10u);
    tamper(std::string("DELETE FROM audit_events WHERE sequence = ") + place);
    expect_intact(10);
  }
  tamper(
      "INSERT INTO audit_checkpoints SELECT 0, key_id, hash, time_us, signature FROM audit_checkpoints "
      "WHERE sequence = 6");
  expect_fault(AuditFault::kChanged, 0);
}

TEST_P(VerifyTest, AValueOfAnotherTypeIsAChange) {
  if (GetParam() != DatabaseKind::kSqlite) GTEST_SKIP() << "PostgreSQL keeps the types of its columns";
  const AuditRow whole = *store_->audit().get(4);
  for (const char* const change : {"detail = CAST(detail AS BLOB)", "time_us = 'abc'", "subject = CAST('x' AS BLOB)"}) {
    SCOPED_TRACE(change);
    tamper(std::string("UPDATE audit_events SET ") + change + " WHERE sequence = 4");
    expect_fault(AuditFault::kChanged, 4);
    EXPECT_EQ(store_->audit().get(4).error().code, Code::kConflict);
    EXPECT_EQ(store_->audit().list({}).error().code, Code::kConflict);
    tamper("DELETE FROM audit_events WHERE sequence = 4");
    ASSERT_TRUE(store_->database().transact(
        [&](Transaction& transaction) { return AuditTable::insert(transaction, std::span(&whole, 1)); }));
    expect_intact(10);
  }
  for (const char* const place : {"'abc'", "4.5", "NULL"}) {
    SCOPED_TRACE(place);
    tamper(std::string("INSERT INTO audit_events SELECT ") + place +
           ", 'event-x', time_us, organization_id, user_id, key_id, kind, action, subject, outcome, call_id, detail, "
           "previous_hash, hash FROM audit_events WHERE sequence = 5");
    expect_fault(AuditFault::kChanged, 0);
    tamper("DELETE FROM audit_events WHERE id = 'event-x'");
    expect_intact(10);
  }
  tamper("UPDATE audit_checkpoints SET time_us = 'abc' WHERE sequence = 6");
  expect_fault(AuditFault::kBadSignature, 6);
  tamper("UPDATE audit_head SET hash = CAST(hash AS BLOB)");
  tamper("DELETE FROM audit_checkpoints WHERE sequence = 6");
  expect_fault(AuditFault::kTruncated, 11);
}

TEST_P(VerifyTest, ADeletedEventIsAGap) {
  tamper("DELETE FROM audit_events WHERE sequence = 5");
  expect_fault(AuditFault::kGap, 5);
}

TEST_P(VerifyTest, TheFirstEventCantGoEither) {
  tamper("DELETE FROM audit_events WHERE sequence = 1");
  expect_fault(AuditFault::kGap, 1);
}

TEST_P(VerifyTest, ClosingTheGapDoesNotHelp) {
  tamper("DELETE FROM audit_events WHERE sequence = 5");
  for (int sequence = 6; sequence <= 10; sequence++)
    tamper("UPDATE audit_events SET sequence = sequence - 1 WHERE sequence = " + std::to_string(sequence));
  EXPECT_EQ(verify().problem->sequence, 5);
}

TEST_P(VerifyTest, SwappedEventsAreFoundAsMoved) {
  tamper("UPDATE audit_events SET sequence = 1000 WHERE sequence = 3");
  tamper("UPDATE audit_events SET sequence = 3 WHERE sequence = 8");
  tamper("UPDATE audit_events SET sequence = 8 WHERE sequence = 1000");
  expect_fault(AuditFault::kReordered, 3);
}

TEST_P(VerifyTest, AnEndThatIsCutOffIsMissedByTheHead) {
  tamper("DELETE FROM audit_events WHERE sequence > 8");
  expect_fault(AuditFault::kTruncated, 9);
}

TEST_P(VerifyTest, WithTheHeadMovedTheCheckpointMissesIt) {
  cut_after(8);
  VerifyOptions options;
  options.keys.push_back(notary_->public_key());
  const auto report = verify_chain(store_->audit(), options);  // without the kept head
  ASSERT_TRUE(report->problem);
  EXPECT_EQ(fault_name(report->problem->fault), "truncated");
}

TEST_P(VerifyTest, WithTheCheckpointsGoneTheKeptHeadMissesIt) {
  cut_after(6);
  tamper("DELETE FROM audit_checkpoints WHERE sequence > 6");
  expect_fault(AuditFault::kTruncated, 7);
}

TEST_P(VerifyTest, AMissingHeadIsFound) {
  tamper("DELETE FROM audit_head");
  expect_fault(AuditFault::kTruncated, 11);
}

TEST_P(VerifyTest, AnEventThatWasSlippedInAtTheEndIsFound) {
  AuditRow row = some_event(11);
  row.sequence = 11;
  row.previous_hash = store_->audit().get(10)->hash;
  row.hash = *event_hash(row);
  ASSERT_TRUE(store_->database().transact(
      [&](Transaction& transaction) { return AuditTable::insert(transaction, std::span(&row, 1)); }));
  expect_fault(AuditFault::kTruncated, 12);
}

TEST_P(VerifyTest, AChainThatWasComputedAnewIsNotWhatWasSigned) {
  rewrite_from(3);
  expect_fault(AuditFault::kRewritten, 6);
}

TEST_P(VerifyTest, ARewrittenTailIsFoundToo) {
  rewrite_from(9);
  expect_fault(AuditFault::kRewritten, 10);
}

TEST_P(VerifyTest, AForgersOwnSignatureDoesNotCount) {
  rewrite_from(3);
  const ScratchDirectory elsewhere;
  const auto forger = Notary::open(elsewhere.path());
  ASSERT_TRUE(forger);
  tamper("DELETE FROM audit_checkpoints");
  ASSERT_TRUE(forger->checkpoint(store_->audit()));
  expect_fault(AuditFault::kBadSignature, 10);
}

TEST_P(VerifyTest, AChangedCheckpointIsFound) {
  tamper("UPDATE audit_checkpoints SET time_us = time_us + 1 WHERE sequence = 6");
  expect_fault(AuditFault::kBadSignature, 6);
  tamper("UPDATE audit_checkpoints SET signature = 'AAAA' WHERE sequence = 6");
  expect_fault(AuditFault::kBadSignature, 6);
}

TEST_P(VerifyTest, TheCheckpointOfTheKeptHeadCantGo) {
  tamper("DELETE FROM audit_checkpoints WHERE sequence = 10");
  expect_fault(AuditFault::kNoCheckpoint, 10);
}

TEST_P(VerifyTest, ARolledBackDatabaseIsFoundAlsoAfterItGrewAgainAndIsNotSigned) {
  cut_after(6);
  tamper("DELETE FROM audit_checkpoints WHERE sequence > 6");
  fill(20, 30);  // a server that went on with the older state
  expect_fault(AuditFault::kRewritten, 10);
  const auto head = notary_->checkpoint(store_->audit());
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, Code::kConflict);
  expect_fault(AuditFault::kRewritten, 10);
}

TEST_P(VerifyTest, AnOlderDatabaseFileIsFound) {
  if (GetParam() != DatabaseKind::kSqlite) GTEST_SKIP() << "PostgreSQL has no such file; see the test above";
  const std::string file = directory_.path() + "/belljar.db";
  store_.reset();
  std::filesystem::copy_file(file, file + ".old");
  reopen();
  fill(11, 15);
  sign();
  store_.reset();
  std::filesystem::copy_file(file + ".old", file, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(file + "-wal");
  std::filesystem::remove(file + "-shm");
  reopen();
  expect_fault(AuditFault::kTruncated, 11);
}

TEST_P(VerifyTest, AHeadThatWasKeptElsewhereFindsEvenTheWholeDirectoryPutBack) {
  const AuditCheckpointRow elsewhere = *notary_->checkpoint(store_->audit());
  cut_after(6);
  tamper("DELETE FROM audit_checkpoints WHERE sequence > 6");
  for (const char* name : {"/audit.head", "/audit.tail"})
    ASSERT_TRUE(std::filesystem::remove(directory_.path() + name)) << name;
  sign();
  expect_intact(6);  // nothing here knows better
  VerifyOptions options;
  options.keys.push_back(notary_->public_key());
  options.known_heads.push_back(elsewhere);
  EXPECT_EQ(verify_chain(store_->audit(), options)->problem->fault, AuditFault::kTruncated);
}

// What the server's log does after each batch: the end is kept although no checkpoint was made yet.
TEST_P(VerifyTest, WhatWasWrittenSinceTheLastCheckpointCantBeCutOrWrittenAnewEither) {
  std::vector<AuditRow> events{some_event(11), some_event(12), some_event(13)};
  const auto end = append(store_->audit(), events);
  ASSERT_TRUE(end && notary_->keep_end(*end));
  expect_intact(13);
  EXPECT_EQ(verify().signed_up_to, 13);
  rewrite_from(12);
  expect_fault(AuditFault::kRewritten, 13);
  EXPECT_EQ(notary_->checkpoint(store_->audit()).error().code, Code::kConflict);  // it would hide the traces
  cut_after(11);
  expect_fault(AuditFault::kTruncated, 12);
}

TEST_P(VerifyTest, AnOlderEndDoesNotReplaceANewerOne) {
  std::vector<AuditRow> events{some_event(11), some_event(12)};
  const AuditLink end = append(store_->audit(), events).value();
  ASSERT_TRUE(notary_->keep_end(end));
  ASSERT_TRUE(notary_->keep_end({11, store_->audit().get(11)->hash}));  // a batch of another process, told late
  EXPECT_EQ((*notary_->kept_end())->sequence, 12);
}

TEST_P(VerifyTest, KeptHeadsThatWereRemovedAreMissed) {
  VerifyOptions options;
  options.keys.push_back(notary_->public_key());
  options.lost_heads_of = notary_->public_key().id();
  EXPECT_EQ(verify_chain(store_->audit(), options)->problem->fault, AuditFault::kNoKeptHead);
}

TEST_P(VerifyTest, AClockThatGoesBackIsANote) {
  std::vector<AuditRow> events{some_event(11, 1'600'000'000'000'000), some_event(12, 1'600'000'000'000'000)};
  ASSERT_TRUE(append(store_->audit(), events));
  const AuditReport report = verify();
  EXPECT_FALSE(report.problem);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("event 11"), std::string::npos);
}

TEST_P(VerifyTest, LongChainsAreReadPageByPage) {
  for (int first = 11; first < 5000; first += 1000) fill(first, first + 999);
  sign();
  expect_intact(5010);
  tamper("UPDATE audit_events SET outcome = 'x' WHERE sequence = 4001");
  expect_fault(AuditFault::kChanged, 4001);
}

BJ_ON_BOTH_ENGINES(VerifyTest);

}  // namespace
}  // namespace bj
