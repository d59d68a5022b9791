// What the engine asks of the launcher. Both are this program, one forked from the other at start, so the format is
// plain structs; sizes are checked all the same.
#pragma once

#include <cstdint>

#include "seal/policy.h"
#include "seal/step.h"

namespace bj::launch {

enum class Kind : uint32_t {
  kAddLayer = 1,
  kCreate = 2,
  kKeep = 3,
  kForget = 4,
  kDeadline = 5,
  kList = 6,
  kDropLayer = 7
};
// kLaunchers is a test switch.
enum class NetworkOf : uint32_t { kLaunchers = 0, kSandbox = 1, kGated = 2 };

// kAddLayer: this, then the host path. Answer: value = number of the layer. kDropLayer: this, then the number, 4 bytes.
struct Header {
  uint32_t id;
  Kind kind;
};

// Among a sandbox's extra mounts, one that the request carries.
inline constexpr uint16_t kPassedTree = 0xffff;

// kCreate: this, then the steps, then the strings. Descriptors: the control socket, the cgroup files (or the
// directory of the group that it is to be born in), passed trees.
// Answer: value = pid, with a pidfd, and for kGated the gate's ends of the network (GateEndpoints). A plan that fails
// later is told on the control socket (PlanFailed).
struct Create {
  Header header;
  uint32_t step_count;
  uint32_t strings_size;
  uint64_t clone_flags;
  IdMap ids;
  NetworkOf network;
  uint32_t idmap_layers;
  uint32_t layer_count;
  uint32_t extra_count;
  uint32_t cgroup_count;
  uint32_t born_in_cgroup;           // 1: by the one cgroup descriptor
  uint16_t layers[kMaxLayers];       // numbers given by kAddLayer
  uint16_t extras[kMaxExtraMounts];  // numbers, or kPassedTree: the next of those
  uint8_t extra_writable[kMaxExtraMounts];
  uint16_t runtimes_layer;
};

// kKeep: this, then the key. Descriptors: a memory file with the note (if has_note), then those that are kept. Replaces
// what was kept under the key before. kForget (what is kept below the key, too) and kDeadline are this and the key,
// too. None of the three is answered. See keeper.h.
struct Keep {
  Header header;
  int64_t deadline_us;  // since the epoch; 0: none
  uint32_t has_note;
  uint32_t is_life;  // the first descriptor that is kept is a pidfd
};
inline constexpr size_t kMaxKey = 256;
inline constexpr size_t kMaxKept = 16;  // descriptors of one entry

// kList: a Header. Answers: one for each entry, with value = 1 if it has a note, then the key, and its descriptors as
// above; at the end one without a key.

struct Answer {
  uint32_t id;
  int32_t value;
  int32_t error;   // errno
  char what[160];  // which call failed; empty: the clone itself
};

// The first message on the control socket when the sandbox's process could not carry its plan out; the warden's own
// first message is told from it by the magic.
struct PlanFailed {
  uint32_t magic;
  int32_t step;
  int32_t error;
};
inline constexpr uint32_t kPlanFailedMagic = 0x4c494146;

}  // namespace bj::launch
