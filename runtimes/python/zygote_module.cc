// The zygote's C part: a Python extension module (stable ABI, any CPython >= 3.9, no C library of its own so that glibc
// and musl images both work) that receives fork requests, clones, and lets the child carry its plan out. serve()
// returns in children only, when they are sealed.
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <linux/sched.h>

#include "engine/calls/zygote_wire.h"
#include "seal/call_networks.h"
#include "seal/carry_out.h"
#include "sys/raw.h"
#include "warden/kernel.h"

namespace {

using namespace bj;
using raw::address;
using raw::call;

constexpr int kMaxFds = 3 + kMaxCgroups;
constexpr int kGetTidAddress = 40;  // PR_GET_TID_ADDRESS

char g_plan[zygote::kMaxPlan] __attribute__((aligned(8)));
zygote::PlanHeader g_header;
PlanView g_view;

struct Received {
  long size;
  int fds[kMaxFds];
  int count;
};

Received receive(int socket, void* buffer, size_t size) {
  Received result{};
  struct {
    size_t size;
    int level, type;
    int fds[kMaxFds + 2];
  } rights{};
  ward::IoVector part{buffer, size};
  ward::MessageHeader header{nullptr, 0, &part, 1, &rights, sizeof rights, 0};
  result.size = call(__NR_recvmsg, socket, address(&header), ward::kCmsgCloexec);
  if (result.size > 0 && header.control_size >= ward::kRightsHeader && rights.type == 1) {
    const size_t count = (rights.size - ward::kRightsHeader) / sizeof(int);
    for (size_t i = 0; i < count && result.count < kMaxFds; ++i) result.fds[result.count++] = rights.fds[i];
  }
  return result;
}

bool receive_plan(int control) {
  const Received got = receive(control, g_plan, sizeof g_plan);
  if (got.size < static_cast<long>(sizeof g_header)) return false;
  raw::copy(&g_header, g_plan, sizeof g_header);
  const size_t steps = size_t{g_header.step_count} * sizeof(Step);
  if (g_header.step_count > kMaxSteps ||
      sizeof g_header + steps + g_header.strings_size != static_cast<size_t>(got.size))
    return false;
  g_view = {reinterpret_cast<const Step*>(g_plan + sizeof g_header), g_header.step_count,
            g_plan + sizeof g_header + steps, g_header.strings_size};
  return true;
}

// The next child's network is made while nobody waits: the zygote moves into it, the child inherits it. Until then the
// zygote is in its own or in that of the last child, where it does nothing.
CallNetworks g_networks;

long prepare_network() { return g_header.own_network != 0 ? g_networks.prepare() : 0; }

// glibc keeps the thread's id in memory that only its own fork() updates: let the kernel write it.
void* tid_address() {
  void* at = nullptr;
  return call(__NR_prctl, kGetTidAddress, address(&at)) == 0 ? at : nullptr;
}

long clone_child(uint64_t flags, void* tid_at, int* pidfd) {
  clone_args args{};
  args.flags = flags | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(pidfd);
  args.exit_signal = 17;
  if (tid_at != nullptr) {
    args.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    args.child_tid = reinterpret_cast<uint64_t>(tid_at);
  }
  return call(raw::kNrClone3, address(&args), sizeof args);
}

void send_frame(int channel, char type, const char* payload, uint32_t size) {
  char frame[64];
  for (int i = 0; i < 4; ++i) frame[i] = static_cast<char>(size >> (8 * i));
  frame[4] = type;
  raw::copy(frame + 5, payload, size);
  call(__NR_sendto, channel, address(frame), 5 + size, ward::kNoSignal, 0, 0);
}

// "step 12 errno 1": formatted by hand, there is no C library.
[[noreturn]] void report_failure(int channel, const Failure& failure) {
  char text[48] = "step ";
  uint32_t n = 5;
  const auto number = [&](int value) {
    char digits[12];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count != 0) text[n++] = digits[--count];
  };
  number(failure.step);
  for (const char* c = " errno "; *c != 0; ++c) text[n++] = *c;
  number(failure.error);
  send_frame(channel, 'F', text, n);
  call(__NR_exit_group, 1);
  __builtin_unreachable();
}

void seal(const zygote::ForkRequest& request, const Received& got) {
  CarryOut state{};
  for (int& slot : state.slots) slot = -1;
  state.slots[kSlotControl] = got.fds[0];
  state.slots[kSlotOutput] = got.fds[1];
  state.slots[kSlotError] = got.fds[2];
  for (uint32_t i = 0; i < request.cgroup_count; ++i) state.slots[kSlotCgroup + i] = got.fds[3 + i];
  state.uid = request.uid;
  const Failure failure = carry_out(g_view, state);
  if (failure.step >= 0) report_failure(state.slots[kSlotControl], failure);
}

void wait_for_call() {
  ward::PollFd p{3, ward::kPollIn, 0};
  while (call(__NR_poll, address(&p), 1, -1) < 0) {
  }
}

PyObject* in_child(const zygote::ForkRequest& request, const Received& got) {
  if (request.warm != 0) PyOS_AfterFork_Child();
  seal(request, got);
  if (request.warm == 0) {
    send_frame(3, 'R', nullptr, 0);
    wait_for_call();
    PyOS_AfterFork_Child();
  }
  return Py_BuildValue("iO", 3, request.warm != 0 ? Py_True : Py_False);
}

void reply(int control, uint32_t id, long pid, int pidfd) {
  const zygote::ForkReply answer{id, pid < 0 ? static_cast<int>(-pid) : 0};
  ward::IoVector part{const_cast<zygote::ForkReply*>(&answer), sizeof answer};
  ward::Rights rights{ward::kRightsHeader + sizeof(int), 1, 1, {pidfd}};
  ward::MessageHeader header{nullptr, 0, &part, 1, pidfd >= 0 ? &rights : nullptr, pidfd >= 0 ? size_t{24} : size_t{0},
                             0};
  call(__NR_sendmsg, control, address(&header), ward::kNoSignal);
}

bool pending(int control) {
  ward::PollFd p{control, ward::kPollIn, 0};
  return call(__NR_poll, address(&p), 1, 0) > 0;
}

PyObject* serve(PyObject*, PyObject* args) {
  int control = -1;
  const char* report = nullptr;
  Py_ssize_t report_size = 0;
  if (!PyArg_ParseTuple(args, "iy#", &control, &report, &report_size)) return nullptr;
  if (!receive_plan(control)) call(__NR_exit_group, 1);
  // Children are reaped by the kernel; the engine holds their pidfds.
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    uint64_t mask;
  } const ignore{reinterpret_cast<void*>(1), 0, nullptr, 0};
  call(__NR_rt_sigaction, 17, address(&ignore), 0, 8);
  raw::drop_bounding(0);  // nothing is executed from here on, and what children need of their capabilities they hold
  void* tid_at = tid_address();
  call(__NR_sendto, control, address(report), report_size, ward::kNoSignal, 0, 0);
  for (;;) {
    if (!pending(control)) (void)prepare_network();
    zygote::ForkRequest request{};
    const Received got = receive(control, &request, sizeof request);
    if (got.size <= 0) call(__NR_exit_group, 0);
    if (got.size == sizeof(zygote::Buried)) {
      g_networks.give_back(request.id);
      continue;
    }
    const bool sound = got.size == sizeof request && request.cgroup_count <= kMaxCgroups &&
                       got.count == static_cast<int>(3 + request.cgroup_count);
    if (const long r = sound ? prepare_network() : -ward::kEINVAL; r < 0) {
      for (int i = 0; i < got.count; ++i) ward::close(got.fds[i]);
      reply(control, request.id, r, -1);
      continue;
    }
    int pidfd = -1;
    PyOS_BeforeFork();
    const long pid = clone_child(g_header.clone_flags, tid_at, &pidfd);
    if (pid == 0) return in_child(request, got);
    if (pid > 0 && g_header.own_network != 0) g_networks.lend(request.id);
    PyOS_AfterFork_Parent();
    reply(control, request.id, pid, pidfd);
    for (int i = 0; i < got.count; ++i) ward::close(got.fds[i]);
    ward::close(pidfd);
  }
}

PyMethodDef g_methods[] = {{"serve", serve, METH_VARARGS,
                            "serve(control_fd, report): forks on request; returns (channel, warm) in children only"},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT, "belljar_zygote", nullptr, -1, g_methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_belljar_zygote() { return PyModule_Create(&g_module); }
