#include "bench/letta_way.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "bench/sample.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/program.h"
#include "tools/result_frame.h"

namespace bj {
namespace {

// The contract's parts in their order: imports, the guarded client, what is injected, arguments, the tool, guarded
// coercion, the call, the pydantic wrapper, the framed payload.
constexpr const char* kScript = R"PY(from typing import *
import pickle
import json as _json
import sys
import base64
import struct
import hashlib
try:
    from letta_client import Letta
except ImportError:
    Letta = None
agent_state = None
client = None
import os
if Letta is not None and os.environ.get("LETTA_API_KEY"):
    client = Letta(api_key=os.environ["LETTA_API_KEY"])
a = 2
b = 3

def add(a: int, b: int) -> int:
    """Adds."""
    return a + b

_raw = {"a": a, "b": b}
try:
    from letta.functions.ast_parsers import coerce_dict_args_by_annotations
    _raw = coerce_dict_args_by_annotations(_raw, add.__annotations__)
    a, b = _raw["a"], _raw["b"]
except Exception:
    pass
_value = add(a=a, b=b)
try:
    from pydantic import BaseModel
    class _Wrapper(BaseModel):
        result: Any
    _value = _Wrapper(result=_value).model_dump()["result"]
except ImportError:
    print("pydantic is not here")
    _value = str(_value)
_payload = _json.dumps({"results": _value, "agent_state": None}, default=str).encode("utf-8")
sys.stdout.flush()
sys.stdout.buffer.write(bytes.fromhex("92c8e49843d35fb3919da69eb3e5c5c6"))
sys.stdout.buffer.write(struct.pack(">I", len(_payload)))
sys.stdout.buffer.write(hashlib.md5(_payload).hexdigest().encode("ascii"))
sys.stdout.buffer.write(_payload)
sys.stdout.buffer.flush()
)PY";

Result<Program> start_python(const LettaWay& way, const std::string& script, int output) {
  ProgramSpec spec;
  spec.path = "/usr/bin/python3";
  spec.arguments = {spec.path, script};
  spec.environment = {{"PATH=/usr/bin:/bin", "PYTHONPATH=" + way.packages, "PYTHONWARNINGS=ignore", "NO_COLOR=1",
                       "TERM=dumb", "PYTHONUNBUFFERED=1"}};
  spec.output = output;
  spec.directory = way.directory;
  return Program::start(spec);
}

Task<std::string> read_to_end(asio::any_io_executor executor, Fd pipe) {
  asio::posix::stream_descriptor stream(executor, pipe.release());
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const auto [error, count] = co_await stream.async_read_some(asio::buffer(piece), kNoThrow);
    text.append(piece.data(), count);
    if (error) co_return text;
  }
}

Result<void> check_result(const std::string& output) {
  const auto frame = find_frame(output, UserText::kStrict);
  if (!frame) return fail(Code::kInternal, frame.error().message);
  const auto result = read_payload(frame->payload);
  if (!result || result->func_return != 5) return fail(Code::kInternal, "Letta's script did not return 5");
  return {};
}

}  // namespace

Task<Result<double>> call_letta_way(asio::any_io_executor executor, LettaWay way) {
  const Stopwatch watch;
  const std::string script = way.directory + "/tmp_letta.py";
  {
    BJ_CO_TRY(const Fd file, open_path(script, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    BJ_CO_CHECK(write_all(file.get(), kScript, script));
  }
  BJ_CO_TRY(Pipe output, make_pipe());
  BJ_CO_TRY(Program python, start_python(way, script, output.write.get()));
  output.write = Fd();
  const std::string text = co_await read_to_end(executor, std::move(output.read));
  asio::posix::stream_descriptor pidfd(executor, static_cast<int>(::syscall(SYS_pidfd_open, python.pid(), 0)));
  co_await readable(pidfd);
  (void)python.wait();
  ::unlink(script.c_str());
  BJ_CO_CHECK(check_result(text));
  co_return watch.ms();
}

}  // namespace bj
