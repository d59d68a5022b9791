#include "engine/interpreters/interpreter_context.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <csignal>

#include "base/id.h"
#include "engine/interpreters/interpreter_zygote.h"
#include "sys/socket.h"

namespace bj {
namespace {

constexpr auto kReadyTime = std::chrono::seconds(20);
constexpr auto kGrace = std::chrono::seconds(5);  // from an interrupt that must end the code to the end of the process
constexpr auto kLook = std::chrono::seconds(1);
// A cell's first moments: where it begins and where it begins to wait, vm's breakOnSigint leaves Node without a
// handler.
constexpr auto kSettle = std::chrono::milliseconds(200);
constexpr size_t kMostCheckpoints = 16;

// How often, and after what time each, an interrupt is sent again to code that goes on.
struct Repetition {
  int times = 0;
  std::chrono::milliseconds after{0};
};

// Node forgets a signal that comes just as a cell begins to wait; but a second one while it is still giving up the code
// for the first ends Node itself (vm's breakOnSigint leaves it without a handler for that moment). A program that bash
// was just starting forgets one, too (the fork still has bash's handler), and bash goes on if its program did not die
// of it; but what runs there may be cleaning up, which a second one would end. So the next comes as from somebody at a
// keyboard who loses patience. Python forgets none once its code has begun.
Repetition repetition_for(ContextLanguage language) {
  switch (language) {
    case ContextLanguage::kJavaScript:
    case ContextLanguage::kTypeScript:
    case ContextLanguage::kBash: return {3, std::chrono::milliseconds(700)};
    case ContextLanguage::kPython: break;
  }
  return {};
}

tl::unexpected<Error> gone() { return fail(Code::kConflict, "the context has ended"); }

ExecutionError context_ended() { return {"ContextEnded", "the context has ended", ""}; }

ExecutionEvent error_event(const ExecutionError& error) {
  ExecutionEvent event;
  event.kind = ExecutionEventKind::kError;
  event.error = error;
  return event;
}

ExecutionEvent output_event(ContextProcess::Piece piece) {
  ExecutionEvent event;
  const bool error = piece.kind == ContextProcess::Piece::Kind::kErrorOutput;
  event.kind = error ? ExecutionEventKind::kErrorOutput : ExecutionEventKind::kOutput;
  event.text = std::move(piece.bytes);
  return event;
}

}  // namespace

// One execution, as its parts share it.
struct InterpreterContext::Run {
  std::shared_ptr<ContextProcess> process;
  std::string nonce;
  ExecutionListener listener;  // empty: he has left
  ExecutionEnd end;
  bool done = false;
  bool must_end = false;     // its time is over, or nobody wants it any more
  bool interrupted = false;  // and was told so
  Clock::time_point deadline = Clock::time_point::max();
  Clock::time_point kill_at = Clock::time_point::max();
  Clock::time_point look_at = Clock::now() + kLook;
  Clock::duration stood_still{0};  // of the sandbox, when it was last looked at
};

InterpreterContext::InterpreterContext(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox,
                                       std::shared_ptr<InterpreterZygote> zygote, ContextLanguage language,
                                       std::string directory, ContextRole role)
    : executor_(executor),
      sandbox_(std::move(sandbox)),
      zygote_(std::move(zygote)),
      id_(new_id("context")),
      language_(language),
      directory_(std::move(directory)),
      role_(role),
      turn_(executor) {}

InterpreterContext::~InterpreterContext() { end(Ending::kWithSandbox); }

Task<Result<std::shared_ptr<ContextProcess>>> InterpreterContext::spawn_process() {
  if (language_ == ContextLanguage::kPython) co_return co_await zygote_->fork(directory_);
  BJ_CO_TRY(ContextPipes pipes, ContextPipes::make());
  ProcessSpec spec;
  spec.directory = directory_;
  if (language_ == ContextLanguage::kBash) {
    spec.arguments = {"bash", "--noprofile", "--noediting", "--init-file", "/opt/belljar/bash/interpreter.sh", "-i"};
  } else {
    spec.arguments = {"node",
                      "--experimental-import-meta-resolve",
                      "--no-warnings",
                      "/opt/belljar/node/interpreter.mjs",
                      "3",
                      name_of(language_)};
  }
  spec.extra_descriptors = {pipes.channel.get()};
  Result<Process> started = co_await sandbox_->start(std::move(spec));
  if (!started && started.error().sys == ENOENT) {
    const char* const needs = language_ == ContextLanguage::kBash ? "bash" : "Node 20 or newer";
    co_return fail(Code::kInvalid, fmt::format("the context can't start: the template has no {}, or there is no {}",
                                               needs, directory_));
  }
  if (!started) co_return tl::unexpected(started.error());
  pipes.ours.output = std::move(started->output);
  pipes.ours.error = std::move(started->error);
  pipes.ours.pid = started->pid;
  if (language_ == ContextLanguage::kBash) pipes.ours.input = std::move(started->input);
  co_return ContextProcess::adopt(executor_, std::move(pipes.ours));
}

// Waits until it is ready, and makes it the context's.
Task<Result<void>> InterpreterContext::replace(std::shared_ptr<ContextProcess> process) {
  const Result<ContextMessage> first = co_await process->message_within(kReadyTime);
  if (!first) {
    process->close();
    if (language_ == ContextLanguage::kPython) zygote_->forget();
    co_return tl::unexpected(first.error());
  }
  if (first->op == ContextOp::kRefused) {
    process->close();
    co_return fail(Code::kInvalid, "the context can't start: " + first->reason);
  }
  if (first->op != ContextOp::kReady) {
    process->close();
    co_return fail(Code::kUnavailable, "the context broke its protocol before it began");
  }
  if (process->pid() == 0) process->set_pid(first->pid);
  process->set_reading(ContextProcess::Reading::kOff);
  process_ = std::move(process);
  had_process_ = true;
  keep();
  co_return Result<void>();
}

// That the zygote has just died is known at the latest by a process that never spoke: another one then, once.
Task<Result<void>> InterpreterContext::begin() {
  BJ_CO_TRY(const auto process, co_await spawn_process());
  Result<void> begun = co_await replace(process);
  if (begun || language_ != ContextLanguage::kPython || begun.error().code != Code::kUnavailable || ended_)
    co_return begun;
  BJ_CO_TRY(auto another, co_await spawn_process());
  co_return co_await replace(std::move(another));
}

Task<Result<void>> InterpreterContext::start() {
  const auto self = shared_from_this();
  if (!co_await turn_.enter()) co_return gone();
  const HeldTurn held(turn_);
  if (ended_) co_return gone();
  if (process_ && !process_->over()) co_return Result<void>();
  kill_process();
  co_return co_await begin();
}

// A warden that is there answers, whatever it says.
Task<bool> InterpreterContext::lost_its_sandbox() {
  if (ended_) co_return sandbox_ended_;
  const Result<void> asked = co_await sandbox_->warden().signal(1, 0);
  co_return !asked && asked.error().code == Code::kUnavailable;
}

// Of a context that never ran because its sandbox ended, what is told is that, not what did not start in it.
Task<Result<ExecutionEnd>> InterpreterContext::not_begun(Error why) {
  if (!co_await lost_its_sandbox()) co_return tl::unexpected(std::move(why));
  ExecutionEnd end;
  end.died = end.sandbox_ended = true;
  end.error = context_ended();
  co_return end;
}

Task<Result<ExecutionEnd>> InterpreterContext::execute(Execution execution, ExecutionListener listener) {
  const auto self = shared_from_this();
  if (!co_await turn_.enter()) co_return co_await not_begun(gone().value());
  const HeldTurn held(turn_);
  if (ended_) co_return co_await not_begun(gone().value());
  Run run;
  const auto started = Clock::now();
  running_ = true;
  code_began_ = interrupt_waits_ = false;
  interrupts_left_ = 0;
  next_interrupt_ = Clock::time_point::max();
  if (!process_ || process_->over()) {
    run.end.restarted = had_process_;
    kill_process();
    const Result<void> begun = co_await begin();
    if (!begun) {
      running_ = false;
      co_return co_await not_begun(begun.error());
    }
    if (run.end.restarted) count_ = 0;
  }
  run.process = process_;
  run.nonce = new_uuid4();
  run.listener = std::move(listener);
  if (execution.timeout_ms != 0) run.deadline = Clock::now() + std::chrono::milliseconds(execution.timeout_ms);
  const uint64_t kills_before = sandbox_->usage().memory_kills;
  run.stood_still = sandbox_->stood_still();
  restarting_ = false;
  keep();
  run.process->set_reading(ContextProcess::Reading::kOn);
  run.process->write(encode_execution(language_, execution, run.nonce));
  co_await converse(run);
  running_ = false;
  run.process->set_reading(ContextProcess::Reading::kOff);
  if (!run.done) {
    if (ended_ || !restarting_) run.end.sandbox_ended = co_await lost_its_sandbox();
    explain_death(run, kills_before);
    kill_process();
    if (run.listener) (void)co_await run.listener(error_event(*run.end.error));
  }
  keep();
  run.end.count = count_;
  run.end.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  co_return run.end;
}

Task<void> InterpreterContext::converse(Run& run) {
  while (!run.done && !run.process->over() && !ended_) {
    co_await run.process->give_way();
    co_await press(run);
    // Between finding nothing to take and waiting for a change, nothing else may run: it would go unnoticed.
    std::optional<ContextProcess::Piece> piece = run.process->take();
    if (!piece) {
      if (run.process->over() || ended_) break;
      const auto next = std::min({run.deadline, run.kill_at, run.look_at, next_interrupt_});
      co_await run.process->change(sandbox_->paused() ? run.look_at : next);
      continue;
    }
    run.look_at = Clock::now() + kLook;
    ExecutionEvent event;
    if (piece->kind != ContextProcess::Piece::Kind::kMessage) {
      co_await deliver(run, output_event(std::move(*piece)));
    } else if (take_message(run, std::move(piece->message), event)) {
      co_await deliver(run, std::move(event));
    }
  }
  // What it printed last is there even if it died of it.
  while (std::optional<ContextProcess::Piece> piece = run.done ? std::nullopt : run.process->take()) {
    co_await run.process->give_way();
    if (piece->kind == ContextProcess::Piece::Kind::kMessage) continue;
    co_await deliver(run, output_event(std::move(*piece)));
  }
}

Task<void> InterpreterContext::deliver(Run& run, ExecutionEvent event) {
  if (run.listener && !co_await run.listener(std::move(event))) {
    run.listener = nullptr;
    run.must_end = true;
  }
}

// Whether it is something to tell.
bool InterpreterContext::take_message(Run& run, ContextMessage message, ExecutionEvent& event) {
  if (message.nonce != run.nonce) return false;  // a late word of an earlier one
  switch (message.op) {
    case ContextOp::kCount:
      count_ = event.count = message.count;
      code_began_ = true;
      began_at_ = Clock::now();
      if (interrupt_waits_) {
        expect_interrupt_to_be_lost();
        next_interrupt_ = settled_at();  // press() sends it
      }
      event.kind = ExecutionEventKind::kCount;
      return true;
    case ContextOp::kResult:
      event.kind = ExecutionEventKind::kResult;
      event.main = message.main;
      event.data = std::move(message.data);
      return true;
    case ContextOp::kError:
      run.end.error = message.error;
      event = error_event(message.error);
      return true;
    case ContextOp::kDone:
      run.done = true;
      if (message.status == 0) return false;
      run.end.error = ExecutionError{"ExitStatus", std::to_string(message.status), ""};
      event = error_event(*run.end.error);
      return true;
    default: return false;
  }
}

// Lets the code feel that its time is over: first it is told, then it is ended.
Task<void> InterpreterContext::press(Run& run) {
  const auto now = Clock::now();
  const Clock::duration since = sandbox_->stood_still() - run.stood_still;
  run.stood_still += since;
  for (Clock::time_point* when : {&run.deadline, &run.kill_at, &next_interrupt_}) {
    if (*when != Clock::time_point::max()) *when += since;
  }
  if (sandbox_->paused()) {
    run.look_at = now + kLook;
    co_return;
  }
  if (now >= run.deadline && !run.must_end) run.end.timed_out = run.must_end = true;
  if (run.must_end && !run.interrupted && !ended_) {
    run.interrupted = true;
    run.kill_at = now + kGrace;
    run.deadline = Clock::time_point::max();
    (void)co_await interrupt();
  } else if (now >= next_interrupt_ && !run.done && !ended_) {
    next_interrupt_ = --interrupts_left_ > 0 ? now + repetition_for(language_).after : Clock::time_point::max();
    (void)co_await sandbox_->signal_group(run.process->pid(), SIGINT);
  }
  if (now >= run.kill_at && !run.done) run.process->close();
  if (now < run.look_at || run.done || run.process->over() || ended_) co_return;
  run.look_at = now + kLook;
  ExecutionEvent silence;
  silence.kind = ExecutionEventKind::kSilence;
  co_await deliver(run, std::move(silence));
  if (ended_) co_return;
  // A process that the code forked may hold the channel open beyond the context's death.
  const Result<void> found = co_await sandbox_->warden().signal(run.process->pid(), 0);
  if (!found && found.error().sys == ESRCH) run.process->close();
}

void InterpreterContext::explain_death(Run& run, uint64_t kills_before) {
  run.end.died = true;
  if (restarting_ || ended_ || run.end.sandbox_ended) {
    run.end.error =
        restarting_ ? ExecutionError{"ContextRestarting", "the context was restarted", ""} : context_ended();
    return;
  }
  std::string why = "the context's process ended: its state is lost, the next execution begins anew";
  if (sandbox_->usage().memory_kills > kills_before) why = "the sandbox's memory limit was reached; " + why;
  if (run.end.timed_out) why = "the code did not end when its time was over; " + why;
  run.end.error = ExecutionError{"ContextDied", why, ""};
}

void InterpreterContext::kill_process() {
  if (!process_) return;
  const std::shared_ptr<ContextProcess> process = std::exchange(process_, nullptr);
  process->close();
  if (process->pid() <= 1) return;
  spawn(executor_, [sandbox = sandbox_, pid = process->pid()]() -> Task<void> {
    (void)co_await sandbox->signal_group(pid, SIGKILL);
  });
}

Task<Result<void>> InterpreterContext::interrupt() {
  if (!running_) co_return Result<void>();
  if (!code_began_) {
    interrupt_waits_ = true;
    co_return Result<void>();
  }
  if (!process_) co_return Result<void>();  // restarted
  const std::shared_ptr<ContextProcess> process = process_;
  expect_interrupt_to_be_lost();
  const bool settling = Clock::now() < settled_at();
  if (settling) next_interrupt_ = settled_at();  // press() sends it
  process->wake();
  if (settling) co_return Result<void>();
  co_return co_await sandbox_->signal_group(process->pid(), SIGINT);
}

Clock::time_point InterpreterContext::settled_at() const {
  const bool node = language_ == ContextLanguage::kJavaScript || language_ == ContextLanguage::kTypeScript;
  return node ? began_at_ + kSettle : began_at_;
}

void InterpreterContext::expect_interrupt_to_be_lost() {
  const Repetition repetition = repetition_for(language_);
  if (repetition.times == 0) return;
  interrupts_left_ = repetition.times;
  next_interrupt_ = Clock::now() + repetition.after;
}

Task<Result<void>> InterpreterContext::restart() {
  const auto self = shared_from_this();
  if (ended_) co_return gone();
  restarting_ = true;
  kill_process();  // an execution that runs ends with it
  had_process_ = false;
  count_ = 0;
  co_return co_await start();
}

Task<Result<ContextCheckpoint>> InterpreterContext::checkpoint() {
  const auto self = shared_from_this();
  if (language_ != ContextLanguage::kPython) co_return fail(Code::kInvalid, "only Python contexts can be checkpointed");
  if (!co_await turn_.enter()) co_return gone();
  const HeldTurn held(turn_);
  if (ended_ || !process_ || process_->over()) {
    co_return fail(Code::kConflict, "the context has no state to keep: nothing was executed in it, or it has died");
  }
  if (checkpoints_.size() >= kMostCheckpoints) {
    co_return fail(Code::kConflict, fmt::format("a context has {} checkpoints at most: drop one", kMostCheckpoints));
  }
  BJ_CO_TRY(auto ends, guarded_socket_pair(SOCK_STREAM));
  const std::shared_ptr<ContextProcess> process = process_;
  process->set_reading(ContextProcess::Reading::kOn);
  const std::string nonce = new_uuid4();
  BJ_CO_CHECK(process->send(encode_context_message({{"op", "checkpoint"}, {"nonce", nonce}}), {ends.second.get()}));
  ends.second.reset();
  const Result<ContextMessage> answer = co_await process->message_within(kReadyTime, nonce);
  process->set_reading(ContextProcess::Reading::kOff);
  if (!answer) co_return tl::unexpected(answer.error());
  if (answer->op != ContextOp::kCheckpointed) co_return fail(Code::kConflict, "no checkpoint: " + answer->reason);
  BJ_CO_TRY(const auto waiting, waiting_process(std::move(ends.first)));
  ContextCheckpoint about{new_id("checkpoint"), count_, Clock::now()};
  const Kept kept{about, waiting, ++checkpoints_made_};
  checkpoints_[about.id] = kept;
  keep_checkpoint(kept);
  co_return about;
}

// Of a checkpoint: it has a channel alone.
Result<std::shared_ptr<ContextProcess>> InterpreterContext::waiting_process(Fd channel) {
  ContextEnds ends;
  ends.channel = std::move(channel);
  BJ_TRY(ContextPipes unused, ContextPipes::make());
  ends.output = std::move(unused.ours.output);
  ends.error = std::move(unused.ours.error);
  auto process = ContextProcess::adopt(executor_, std::move(ends));
  process->set_reading(ContextProcess::Reading::kOff);
  return process;
}

std::vector<ContextCheckpoint> InterpreterContext::checkpoints() const {
  std::map<size_t, ContextCheckpoint> ordered;
  for (const auto& [id, kept] : checkpoints_) ordered[kept.order] = kept.about;
  std::vector<ContextCheckpoint> out;
  for (auto& [order, about] : ordered) out.push_back(std::move(about));
  return out;
}

Task<Result<void>> InterpreterContext::roll_back(std::string id) {
  const auto self = shared_from_this();
  if (!co_await turn_.enter()) co_return gone();
  const HeldTurn held(turn_);
  if (ended_) co_return gone();
  const auto found = checkpoints_.find(id);
  if (found == checkpoints_.end()) co_return fail(Code::kNotFound, "the context has no checkpoint \"" + id + "\"");
  const Kept kept = found->second;
  if (kept.process->over()) {
    forget_checkpoint(id);
    checkpoints_.erase(found);
    co_return fail(Code::kConflict, "the checkpoint's process has ended: it can't be rolled back to");
  }
  BJ_CO_TRY(ContextPipes pipes, ContextPipes::make());
  BJ_CO_CHECK(kept.process->send(encode_context_message({{"op", "rollback"}}),
                                 {pipes.channel.get(), pipes.output.get(), pipes.error.get()}));
  auto process = ContextProcess::adopt(executor_, std::move(pipes.ours));
  for (Fd* fd : {&pipes.channel, &pipes.output, &pipes.error}) fd->reset();
  // The live one ends while the checkpoint forks: its pages then belong to the checkpoint alone.
  if (process_ && process_->pid() > 1) (void)co_await sandbox_->signal_group(process_->pid(), SIGKILL);
  if (process_) std::exchange(process_, nullptr)->close();
  BJ_CO_CHECK(co_await replace(std::move(process)));
  count_ = kept.about.count;
  keep();
  co_return Result<void>();
}

Result<void> InterpreterContext::drop_checkpoint(const std::string& id) {
  const auto found = checkpoints_.find(id);
  if (found == checkpoints_.end()) return fail(Code::kNotFound, "the context has no checkpoint \"" + id + "\"");
  forget_checkpoint(id);
  found->second.process->close();  // it ends when nobody holds the other end
  checkpoints_.erase(found);
  return {};
}

void InterpreterContext::end(Ending ending) {
  ended_ = true;
  sandbox_ended_ = ending == Ending::kWithSandbox;
  if (ending == Ending::kKill) {
    forget_all();
    kill_process();
  }
  if (process_) std::exchange(process_, nullptr)->close();
  for (auto& [id, kept] : checkpoints_) kept.process->close();
  checkpoints_.clear();
}

}  // namespace bj
