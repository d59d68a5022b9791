#include "engine/process_table.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"

namespace bj {
namespace {

// The number at the end of a record's key.
uint64_t number_in(const std::string& key) {
  const size_t at = key.rfind('/') + 1;
  uint64_t number = 0;
  std::from_chars(key.data() + at, key.data() + key.size(), number);
  return number;
}

// The descriptors, in the order in which ProcessRecord keeps them: a terminal; or the input, unless it is closed, the
// output and the error output.
Process streams_of(int pid, const ProcessSpec& spec, std::vector<Fd> descriptors) {
  constexpr size_t kWithInput = 3;
  Process process;
  process.pid = pid;
  std::vector<Fd*> places{&process.output, &process.error};
  if (spec.terminal) places = {&process.terminal};
  if (descriptors.size() == kWithInput) places.insert(places.begin(), &process.input);
  for (size_t i = 0; i < std::min(places.size(), descriptors.size()); ++i) *places[i] = std::move(descriptors[i]);
  return process;
}

}  // namespace

Task<Result<std::shared_ptr<LiveProcess>>> ProcessTable::start(ProcessSpec spec, LiveProcessOptions options) {
  const ProcessSpec kept = spec;
  const auto state = state_;
  const std::string& sandbox = sandbox_->kept_as();
  const std::string key = sandbox.empty() ? "" : sandbox + kKeptProcesses + std::to_string(++state->last);
  BJ_CO_TRY(const auto record, ProcessRecord::create(&sandbox_->host(), key, options.kept_bytes,
                                                     note_of(spec, options.tag, options.origin)));
  record->facts().input_open = options.input == Input::kOpen && !spec.terminal ? 1 : 0;
  BJ_CO_TRY(Process process, co_await sandbox_->start(std::move(spec), record));
  auto live = LiveProcess::adopt(executor_, std::move(process), kept, std::move(options), record);
  put(*state, live);
  if (LauncherClient* const launcher = sandbox_->host().launcher.get())
    co_await launcher->all_told();  // before anybody hears that it runs
  co_return live;
}

// An ended one of the same pid makes room: the kernel uses numbers again. So does the oldest of very many ended ones.
void ProcessTable::put(State& state, const std::shared_ptr<LiveProcess>& process) {
  std::shared_ptr<LiveProcess>& place = state.processes[process->pid()];
  if (place) place->forget();
  place = process;
  std::vector<std::shared_ptr<LiveProcess>> ended;
  for (const auto& [pid, one] : state.processes) {
    if (one->over()) ended.push_back(one);
  }
  if (ended.size() <= kMostEnded) return;
  const auto older = [](const auto& a, const auto& b) { return a->started() < b->started(); };
  const std::shared_ptr<LiveProcess> oldest = *std::min_element(ended.begin(), ended.end(), older);
  oldest->forget();
  state.processes.erase(oldest->pid());
}

void ProcessTable::take_up(std::vector<KeptThing>& parts) {
  for (KeptThing& thing : parts) {
    if (thing.key.starts_with(sandbox_->kept_as() + kKeptProcesses)) take_up(std::move(thing));
  }
}

void ProcessTable::take_up(KeptThing thing) {
  const std::string key = thing.key;
  state_->last = std::max(state_->last, number_in(key));
  const Result<std::shared_ptr<ProcessRecord>> opened = ProcessRecord::open(&sandbox_->host(), thing);
  Result<ProcessNote> note = opened ? read_process_note((*opened)->note()) : tl::unexpected(opened.error());
  if (!note) {
    log_warning("process_not_taken_up", {{"key", key}, {"why", note.error().what}});
    return sandbox_->host().launcher->forget(key);
  }
  const std::shared_ptr<ProcessRecord>& record = *opened;
  if (record->facts().stage != ProcessStage::kOver && !note->spec->terminal && thing.descriptors.size() < 2)
    return record->forget();
  const ProcessFacts& facts = record->facts();
  auto process = std::make_shared<Process>(streams_of(facts.pid, *note->spec, std::move(thing.descriptors)));
  if (!note->spec->terminal) {
    record->hold(process->input.get(), process->output.get(), process->error.get());
    if (facts.input_open == 0) record->drop_input();
  } else if (process->terminal.ok()) {
    record->hold_terminal(process->terminal.get());
  }
  if (facts.stage == ProcessStage::kAsked) return wait_for(record, process, *note);
  if (facts.stage == ProcessStage::kRunning) process->exit = sandbox_->warden().expect_exit(facts.pid, record);
  if (facts.stage == ProcessStage::kExited) {
    process->exit = std::make_shared<OneShot<ExitReport>>(executor_);
    process->exit->set(facts.exit);
  }
  put(*state_, LiveProcess::go_on(executor_, std::move(*process), std::move(*note), record));
}

// The request may be answered yet. Whoever made it is gone, but the process will be there to be found.
void ProcessTable::wait_for(const std::shared_ptr<ProcessRecord>& record, const std::shared_ptr<Process>& process,
                            const ProcessNote& note) {
  WardenClient& warden = sandbox_->warden();
  record->when_started([executor = executor_, state = state_, &own = *record, process, note, &warden](Fd terminal) {
    if (terminal.ok()) process->terminal = std::move(terminal);
    if (process->terminal.ok()) own.hold_terminal(process->terminal.get());
    process->pid = own.facts().pid;
    process->exit = warden.expect_exit(process->pid, own.shared_from_this());
    put(*state, LiveProcess::go_on(executor, std::move(*process), note, own.shared_from_this()));
  });
  warden.expect_start(record->facts().request, record);
}

Result<std::shared_ptr<LiveProcess>> ProcessTable::find(int pid) const {
  const auto found = state_->processes.find(pid);
  if (found != state_->processes.end()) return found->second;
  return fail(Code::kNotFound, "process with pid " + std::to_string(pid) + " not found");
}

Result<std::shared_ptr<LiveProcess>> ProcessTable::find_by_tag(const std::string& tag) const {
  std::shared_ptr<LiveProcess> newest;
  for (const auto& [pid, process] : state_->processes) {
    if (process->tag() == tag && (!newest || process->started() > newest->started())) newest = process;
  }
  if (newest) return newest;
  return fail(Code::kNotFound, "process with tag " + tag + " not found");
}

std::vector<std::shared_ptr<LiveProcess>> ProcessTable::all() const {
  std::vector<std::shared_ptr<LiveProcess>> list;
  for (const auto& [pid, process] : state_->processes) list.push_back(process);
  return list;
}

Task<Result<void>> ProcessTable::signal(int pid, int signal) {
  BJ_CO_TRY(const std::shared_ptr<LiveProcess> process, find(pid));
  if (process->over()) co_return fail(Code::kConflict, "process " + std::to_string(pid) + " has ended");
  co_return co_await sandbox_->signal_group(pid, signal);
}

}  // namespace bj
