#include "audit/audit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <random>

#include "audit/audit_test_support.h"

namespace bj {
namespace {

class AuditLogTest : public AuditTest {
 protected:
  std::unique_ptr<AuditLog> make_log() {
    return std::make_unique<AuditLog>(context_.get_executor(), *store_, threads_, *Notary::open(directory_.path()));
  }
  void run(Task<void> work) {
    asio::co_spawn(context_, std::move(work), asio::detached);
    context_.restart();
    context_.run();
  }

  asio::io_context context_;
  asio::thread_pool threads_{4};
};

Event call_of(int caller, int number) {
  Event event;
  event.kind = EventKind::kCall;
  event.action = "tool.run";
  event.subject = "caller-" + std::to_string(caller);
  event.detail = {{"number", number}};
  return event;
}

Task<void> call_many(AuditLog& log, int caller, int count, int& left, std::chrono::nanoseconds& in_add) {
  for (int number = 0; number < count; number++) {
    const auto admitted = co_await log.admit();
    EXPECT_TRUE(admitted);
    const auto before = Clock::now();
    log.add(call_of(caller, number));
    in_add += Clock::now() - before;
  }
  if (--left == 0) co_await log.stop();
}

TEST_P(AuditLogTest, AFloodFromManyCallersLosesNothing) {
  constexpr int kCallers = 100, kEach = 1000;
  const auto log = make_log();
  log->start();
  int left = kCallers;
  std::chrono::nanoseconds in_add{0};
  for (int caller = 0; caller < kCallers; caller++)
    asio::co_spawn(context_, call_many(*log, caller, kEach, left, in_add), asio::detached);
  context_.run();
  EXPECT_EQ(log->waiting(), 0u);
  expect_intact(kCallers * kEach);
  EXPECT_EQ(verify().signed_up_to, kCallers * kEach);
  // Each caller's events are all there, in its order.
  AuditFilter filter;
  filter.subject = "caller-42";
  filter.limit = 10'000;
  filter.order = Order::kAscending;
  const auto events = store_->audit().list(filter);
  ASSERT_EQ(events->size(), static_cast<size_t>(kEach));
  for (int number = 0; number < kEach; number++)
    EXPECT_EQ((*events)[static_cast<size_t>(number)].detail, "{\"number\":" + std::to_string(number) + "}");
  RecordProperty("add_ns", std::to_string(in_add.count() / (kCallers * kEach)));
}

TEST_P(AuditLogTest, AnActIsStoredWhenItReturns) {
  const auto log = make_log();
  run([&]() -> Task<void> {
    log->add(call_of(1, 1));
    EXPECT_TRUE(co_await log->act({}, "key.create", "key-9", {{"role", "admin"}}));
    const auto last = store_->audit().get(2);  // after what was there before it
    EXPECT_TRUE(last);
    EXPECT_EQ(last->action, "key.create");
    EXPECT_EQ(last->subject, "key-9");
    EXPECT_EQ(last->kind, "administration");
  }());
  expect_intact(2);
}

TEST_P(AuditLogTest, WhatCantBeWrittenIsToldAndStaysUntilItCan) {
  const auto log = make_log();
  tamper("UPDATE audit_head SET id = 2");
  run([&]() -> Task<void> {
    log->add(call_of(1, 1));
    EXPECT_FALSE(co_await log->act({}, "key.create", "key-9"));
    EXPECT_EQ(log->waiting(), 2u);
    tamper("UPDATE audit_head SET id = 1");
    EXPECT_TRUE(co_await log->flush());
  }());
  EXPECT_EQ(log->waiting(), 0u);
  expect_intact(2);
  EXPECT_EQ(store_->audit().get(1)->action, "tool.run");
}

TEST_P(AuditLogTest, AFullQueueLetsNobodyInUntilItIsWritten) {
  const auto log = make_log();
  tamper("UPDATE audit_head SET id = 2");
  run([&]() -> Task<void> {
    for (int number = 0; number < 10'000; number++) log->add(call_of(1, number));
    EXPECT_FALSE(co_await log->admit());
    tamper("UPDATE audit_head SET id = 1");
    EXPECT_TRUE(co_await log->admit());
    EXPECT_EQ(log->waiting(), 0u);
  }());
  expect_intact(10'000);
}

TEST_P(AuditLogTest, HostileTextIsStoredHarmlesslyAndBounded) {
  const auto log = make_log();
  run([&]() -> Task<void> {
    Event event = call_of(1, 1);
    event.subject = std::string("a\0b\xff", 4);
    event.outcome = std::string(100'000, 'x');
    event.detail = {{"name", std::string(100'000, 'y')}};
    log->add(event);
    EXPECT_TRUE(co_await log->flush());
  }());
  expect_intact(1);
  const auto row = store_->audit().get(1);
  EXPECT_EQ(row->subject, "a?b\xef\xbf\xbd");
  EXPECT_EQ(row->outcome.size(), 256u);
  EXPECT_TRUE(row->detail.starts_with("{\"left_out_bytes\":"));
}

TEST_P(AuditLogTest, ABatchThatWasCommittedUnnoticedIsNotWrittenTwice) {
  std::vector<AuditRow> events{some_event(1), some_event(2)};
  ASSERT_TRUE(append(store_->audit(), events));
  ASSERT_TRUE(append(store_->audit(), events));
  expect_intact(2);
}

// The answer to a commit was lost; until the next try more has happened.
TEST_P(AuditLogTest, WhatCameBehindABatchThatWasCommittedUnnoticedIsWritten) {
  std::vector<AuditRow> events{some_event(1), some_event(2)};
  ASSERT_TRUE(append(store_->audit(), events));
  for (int number = 3; number <= 50; number++) events.push_back(some_event(number));
  const auto end = append(store_->audit(), events);
  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end->sequence, 50);
  expect_intact(50);
  EXPECT_EQ(store_->audit().get(50)->subject, "tool-50");
}

TEST_P(AuditLogTest, SeveralServersWriteOneChainWithoutGaps) {
  constexpr int kServers = 4, kBatches = 25, kTogether = 40;
  std::vector<std::unique_ptr<Store>> stores;
  for (int server = 0; server < kServers; server++) stores.push_back(open());
  std::vector<std::thread> threads;
  for (auto& store : stores) {
    threads.emplace_back([&store] {
      for (int batch = 0; batch < kBatches; batch++) {
        std::vector<AuditRow> events;
        for (int number = 0; number < kTogether; number++) events.push_back(some_event(number));
        const auto done = append(store->audit(), events);
        EXPECT_TRUE(done) << done.error().what;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_intact(kServers * kBatches * kTogether);
}

// Appends until it is killed; the number of each batch's last event goes down the pipe once it is stored.
[[noreturn]] void append_for_ever(StoreOptions options, int pipe) {
  const auto store = Store::open(std::move(options));
  if (!store) ::_exit(1);
  while (true) {
    std::vector<AuditRow> events;
    for (int number = 0; number < 7; number++) events.push_back(some_event(number));
    if (!append((*store)->audit(), events)) ::_exit(1);
    const int64_t last = events.back().sequence;
    if (::write(pipe, &last, sizeof last) != static_cast<ssize_t>(sizeof last)) ::_exit(1);
  }
}

TEST_P(AuditLogTest, AKillInTheMiddleLeavesAnIntactChainWithAllThatWasAcknowledged) {
  std::mt19937 random(30);
  int64_t acknowledged = 0;
  for (int round = 0; round < 8; round++) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    ChildProcess child([&] { append_for_ever(options(), writer.get()); });
    writer.reset();
    int64_t last = 0;
    for (unsigned left = 1 + random() % 20; left > 0 && ::read(reader.get(), &last, sizeof last) > 0; left--)
      acknowledged = last;
    for (unsigned spin = random() % 2'000'000; spin > 0; spin--) asm volatile("");
    child.stop(SIGKILL);
    while (::read(reader.get(), &last, sizeof last) == static_cast<ssize_t>(sizeof last)) acknowledged = last;
    const AuditReport report = verify();
    EXPECT_FALSE(report.problem) << report.problem->what;
    EXPECT_GE(report.events, acknowledged);
  }
  EXPECT_GE(acknowledged, 8);
}

BJ_ON_BOTH_ENGINES(AuditLogTest);

}  // namespace
}  // namespace bj
