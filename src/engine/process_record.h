// What is known of a process in a sandbox, written where it outlives this one: its output and how far it has come in a
// memory file, that file and the process's pipes with the keeper. Another server finds both and goes on with it
// (LiveProcess). A sandbox that is not kept has records, too; they are then nobody's but ours.
//
// Stays on its executor's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/host.h"
#include "engine/output_buffer.h"
#include "engine/warden_client.h"

namespace bj {

struct ProcessSpec;

enum class ProcessStage : uint32_t { kAsked, kRunning, kExited, kOver };  // over: its last output was read

// Lies in the memory file as it is here.
struct ProcessFacts {
  ProcessStage stage;
  uint32_t request;  // to the warden
  int32_t pid;
  uint32_t input_open, lost, told;  // told: its end was, to whoever keeps receipts
  int64_t started_ns, ended_ns;     // by the steady clock, which all processes of a boot share
  int64_t kill_at_ns;               // 0: never
  ExitReport exit;
  char stopped_by[32];
};

class ProcessRecord : public SpawnWitness, public std::enable_shared_from_this<ProcessRecord> {
 public:
  // `key`: under which it is kept; empty: it is not. `note`: what whoever finds it needs to know.
  static Result<std::shared_ptr<ProcessRecord>> create(Host* host, std::string key, size_t kept_bytes,
                                                       std::string note);
  static Result<std::shared_ptr<ProcessRecord>> open(Host* host, KeptThing& thing);

  OutputBuffer& output() { return output_; }
  const OutputBuffer& output() const { return output_; }
  ProcessFacts& facts() const { return *reinterpret_cast<ProcessFacts*>(output_.margin()); }
  const std::string& key() const { return key_; }
  const std::string& note() const { return note_; }

  // Our ends of its streams: they are kept until drop_input() and drop_streams(). The caller stays their owner. Input:
  // -1 if it has none that is open.
  void hold(int input, int output, int error);
  void hold_terminal(int terminal) { streams_ = {terminal}; }
  void drop_input();
  void drop_streams();
  void forget();

  void asked(uint32_t request) override;
  void started(int pid, const Fd& terminal) override;
  void failed() override;
  void exited(const ExitReport& report) override;
  // Called once the process runs, of one that was asked for by another server.
  void when_started(std::function<void(Fd terminal)> call) { when_started_ = std::move(call); }

 private:
  ProcessRecord(Host* host, std::string key, std::string note, OutputBuffer output)
      : host_(host), key_(std::move(key)), note_(std::move(note)), output_(std::move(output)) {}
  void keep();

  Host* host_;  // may be none where the key is empty
  std::string key_, note_;
  OutputBuffer output_;
  std::vector<int> streams_;  // of the owner
  int input_ = -1;
  std::function<void(Fd)> when_started_;
};

// The note: what the process was started as, and two texts of its owner's.
struct ProcessNote {
  std::shared_ptr<ProcessSpec> spec;
  std::string tag, origin;
};
std::string note_of(const ProcessSpec& spec, const std::string& tag, const std::string& origin);
Result<ProcessNote> read_process_note(const std::string& note);

}  // namespace bj
