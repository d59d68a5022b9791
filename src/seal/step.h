// A plan on the wire: a flat list of steps and a blob of strings they point into. It is made by the engine, which has
// threads and a heap, and carried out by code that has neither (carry_out.h): the launcher's clone and the child of a
// zygote. Plain data, no pointers, bounded.
#pragma once

#include <cstdint>

#include "seal/control.h"

namespace bj {

enum class Op : uint8_t {
  kWrite,            // text -> descriptor in slot
  kUnshare,          // number: namespace flags
  kLoopbackUp,       //
  kHostname,         // text
  kNewSession,       //
  kResetSignals,     // signals number to number2 to default, nothing blocked
  kPrivateMounts,    // "/" and everything below
  kMakeDirectory,    // text, number: mode
  kChown,            // text, number: uid and gid
  kMount,            // text: type, more: "key=value,flag", number: attributes -> slot
  kAttach,           // mount in slot -> path text
  kBind,             // path text -> path more, number: attributes to add
  kSetAttributes,    // mounts at and below path text, number: attributes to add
  kPivotRoot,        // path text becomes /; the old root goes
  kChangeDirectory,  // text
  kUmask,            // number
  kOpenNull,         // /dev/null at descriptor `number`
  kRlimit,           // number: resource, number2: soft and hard limit
  kDropBounding,     // number: capabilities to keep in the bounding set
  kSetIds,           // number: uid, number2: gid; no supplementary groups
  kSetCaps,          // number: permitted and effective set
  kDumpable,         // number
  kNoNewPrivs,       //
  kLandlockCreate,   // number: file rights, number2: scopes -> slot
  kLandlockAllow,    // ruleset in slot, path text, number: rights
  kLandlockEnforce,  // ruleset in slot
  kSeccomp,          // program at text in the strings, number: instructions
  kPlaceFd,          // slot -> descriptor `number`
  kCloseFrom,        // number: first descriptor to close, number2: close_range flags
  kExec,             // program in slot, text: its argv[0]
  kPutFile,          // a new file at path text that says `more`, for everybody to read
  kSendDescriptor,   // the descriptor in slot -> the control socket, with text: to the sandbox's owner
  kSetting,          // the file at path text, which is there, is told `more`
  kBorn,             // nothing to do: what this control is, the clone was made with
#ifdef BELLJAR_TEST_SWITCHES
  kChroot,  // path text becomes / by chroot alone: what mutation tests put in the place of kPivotRoot
#endif
};

// In number fields: "the uid this child was given", which a plan shared by many children can't know.
inline constexpr uint64_t kOwnUid = ~0ull;

struct Step {
  Op op;
  Control control;
  uint8_t slot;
  uint8_t optional;  // 1: a refusal of the kernel is no failure (probed and reported elsewhere)
  uint32_t text;     // offsets into the strings, each NUL-terminated
  uint32_t more;
  uint64_t number;
  uint64_t number2;
};
static_assert(sizeof(Step) == 32);

inline constexpr uint32_t kMaxSteps = 256;
inline constexpr uint32_t kMaxStrings = 64 * 1024;
inline constexpr int kMaxSlots = 64;

// Slots that the one who carries the plan out fills in beforehand; the rest belongs to the plan.
enum Slot : uint8_t {
  kSlotProgram = 0,   // what kExec executes
  kSlotControl = 1,   // the warden's socket, or a call's channel
  kSlotOutput = 2,    // a call's stdout
  kSlotError = 3,     // a call's stderr
  kSlotDev = 4,       // a clone of the launcher's /dev
  kSlotRuntimes = 5,  // a clone of the mount of /opt/belljar
  kSlotCgroup = 6,    // to kSlotCgroup + kMaxCgroups - 1: files that take "0" to join
  kSlotLayer = 13,    // to kSlotLayer + kMaxLayers - 1: template layers
  kSlotExtra = 45,    // to kSlotExtra + kMaxExtraMounts - 1: the caller's own mounts
  kSlotFree = 53,     // the plan's own
};
inline constexpr int kMaxCgroups = 7;
inline constexpr int kMaxLayers = 32;
inline constexpr int kMaxExtraMounts = 8;

}  // namespace bj
