// What the audit's tests share: a store on either engine with a notary, events to fill it with, and a verdict.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/chain.h"
#include "audit/event.h"
#include "audit/notary.h"
#include "audit/verify.h"
#include "store/store_test_support.h"

namespace bj {

inline AuditRow some_event(int number, int64_t time = 1'700'000'000'000'000) {
  Event event;
  event.kind = EventKind::kCall;
  event.action = "tool.run";
  event.actor.key = "key-1";
  event.subject = "tool-" + std::to_string(number);
  event.call_id = "call-" + std::to_string(number);
  event.detail = {{"number", number}};
  event.time = time + number;
  return row_of(event, 0);
}

class AuditTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    reopen();
  }

  void reopen() {
    store_.reset();
    store_ = open();
    ASSERT_TRUE(store_);
    auto notary = Notary::open(directory_.path());
    ASSERT_TRUE(notary) << notary.error().what;
    notary_ = std::make_unique<Notary>(std::move(*notary));
  }

  void fill(int first, int last) {
    std::vector<AuditRow> events;
    for (int number = first; number <= last; number++) events.push_back(some_event(number));
    const auto done = append(store_->audit(), events);
    ASSERT_TRUE(done) << done.error().what;
  }
  void sign() {
    const auto head = notary_->checkpoint(store_->audit());
    ASSERT_TRUE(head) << head.error().what;
  }
  // What somebody does who can write the database.
  void tamper(const std::string& sql) {
    const auto done = store_->database().write(sql);
    ASSERT_TRUE(done) << done.error().what;
    ASSERT_GE(done->affected, 1) << sql;
  }

  AuditReport verify() {
    VerifyOptions options;
    options.keys.push_back(notary_->public_key());
    const auto kept = notary_->kept();
    EXPECT_TRUE(kept);
    if (kept && *kept) options.known_heads.push_back(**kept);
    const auto end = notary_->kept_end();
    EXPECT_TRUE(end);
    if (end) options.last_end = *end;
    auto report = verify_chain(store_->audit(), options);
    EXPECT_TRUE(report) << report.error().what;
    return report ? *report : AuditReport();
  }
  void expect_fault(AuditFault fault, int64_t sequence) {
    const AuditReport report = verify();
    ASSERT_TRUE(report.problem) << "nothing was found";
    EXPECT_EQ(fault_name(report.problem->fault), fault_name(fault)) << report.problem->what;
    EXPECT_EQ(report.problem->sequence, sequence) << report.problem->what;
  }
  void expect_intact(int64_t events) {
    const AuditReport report = verify();
    EXPECT_FALSE(report.problem) << report.problem->what;
    EXPECT_EQ(report.events, events);
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<Notary> notary_;
};

}  // namespace bj
