#include "engine/process_record.h"

#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "engine/sandbox.h"
#include "sys/duplicate.h"

namespace bj {
namespace {

namespace json = boost::json;

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Result<std::shared_ptr<ProcessRecord>> ProcessRecord::create(Host* host, std::string key, size_t kept_bytes,
                                                             std::string note) {
  static_assert(sizeof(ProcessFacts) <= OutputBuffer::kMarginSize);
  BJ_TRY(OutputBuffer output, OutputBuffer::create(kept_bytes));
  std::shared_ptr<ProcessRecord> record(new ProcessRecord(host, std::move(key), std::move(note), std::move(output)));
  record->facts().started_ns = steady_ns();
  return record;
}

Result<std::shared_ptr<ProcessRecord>> ProcessRecord::open(Host* host, KeptThing& thing) {
  if (thing.descriptors.empty()) return fail(Code::kInternal, "a process was kept without its output");
  BJ_TRY(OutputBuffer output, OutputBuffer::open(std::move(thing.descriptors.front())));
  thing.descriptors.erase(thing.descriptors.begin());
  return std::shared_ptr<ProcessRecord>(new ProcessRecord(host, thing.key, thing.note, std::move(output)));
}

void ProcessRecord::keep() {
  if (key_.empty() || !host_->launcher) return;
  KeepRequest request;
  request.note = note_;
  request.descriptors.push_back(output_.file().get());
  if (input_ >= 0) request.descriptors.push_back(input_);
  request.descriptors.insert(request.descriptors.end(), streams_.begin(), streams_.end());
  host_->launcher->keep(key_, request);
}

void ProcessRecord::hold(int input, int output, int error) {
  input_ = input;
  streams_ = {output, error};
}

void ProcessRecord::drop_input() {
  if (input_ < 0) return;
  input_ = -1;
  facts().input_open = 0;
  keep();
}

void ProcessRecord::drop_streams() {
  input_ = -1;
  streams_.clear();
  facts().input_open = 0;
  keep();
}

void ProcessRecord::forget() {
  if (!key_.empty() && host_->launcher) host_->launcher->forget(key_);
  key_.clear();
}

void ProcessRecord::asked(uint32_t request) {
  facts().request = request;
  keep();
}

void ProcessRecord::started(int pid, const Fd& terminal) {
  if (terminal.ok()) {
    streams_ = {terminal.get()};
    keep();
  }
  facts().pid = pid;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  facts().stage = ProcessStage::kRunning;
  if (!when_started_) return;
  const auto call = std::exchange(when_started_, {});
  call(terminal.ok() ? duplicate(terminal.get()).value_or(Fd()) : Fd());
}

void ProcessRecord::failed() { forget(); }

void ProcessRecord::exited(const ExitReport& report) {
  facts().exit = report;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (facts().stage == ProcessStage::kRunning) facts().stage = ProcessStage::kExited;
}

std::string note_of(const ProcessSpec& spec, const std::string& tag, const std::string& origin) {
  json::array arguments(spec.arguments.begin(), spec.arguments.end());
  json::object environment;
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  return json::serialize(json::object{{"arguments", std::move(arguments)},
                                      {"environment", std::move(environment)},
                                      {"directory", spec.directory},
                                      {"user", spec.user},
                                      {"terminal", spec.terminal},
                                      {"rows", spec.rows},
                                      {"columns", spec.columns},
                                      {"tag", tag},
                                      {"origin", origin}});
}

Result<ProcessNote> read_process_note(const std::string& note) {
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // arguments are bytes
  json::error_code bad;
  const json::value value = json::parse(note, bad, {}, options);
  if (bad || !value.is_object()) return fail(Code::kInternal, "what was kept of a process can't be read");
  const json::object& from = value.get_object();
  const auto text = [&](const char* name) { return std::string(from.at(name).as_string()); };
  ProcessNote read{std::make_shared<ProcessSpec>(), text("tag"), text("origin")};
  ProcessSpec& spec = *read.spec;
  for (const json::value& argument : from.at("arguments").as_array()) spec.arguments.emplace_back(argument.as_string());
  for (const auto& item : from.at("environment").as_object())
    spec.environment[std::string(item.key())] = std::string(item.value().as_string());
  spec.directory = text("directory");
  spec.user = text("user");
  spec.terminal = from.at("terminal").as_bool();
  spec.rows = from.at("rows").to_number<uint16_t>();
  spec.columns = from.at("columns").to_number<uint16_t>();
  return read;
}

}  // namespace bj
