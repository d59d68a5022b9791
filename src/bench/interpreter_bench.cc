// Interpreters through the native API.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>

#include "bench/bench_json.h"
#include "bench/bench_server.h"
#include "bench/sandbox_bench.h"

namespace bj {
namespace {

constexpr int kRounds = 30;
// A hundred megabytes in objects, not in one block.
constexpr const char* kFill =
    "data = [bytearray(100_000) for _ in range(1000)]\nfor piece in data: piece[:] = b'x' * len(piece)\nlen(data)";

struct Times {
  Sample first, checkpoint, rollback;
};

std::string code(std::string_view text) { return boost::json::serialize(boost::json::object{{"code", text}}); }

Result<void> execute(PlainClient& client, const std::string& context, std::string_view text,
                     std::string_view expected) {
  BJ_TRY(const std::string answer, client.text("POST", context + "/execute", code(text)));
  if (answer.find(expected) == std::string::npos)
    return fail(Code::kInternal, "another result: " + answer.substr(0, 500));
  return {};
}

Result<void> measure(PlainClient& client, const std::string& contexts, Times& times) {
  const std::string body = "{\"language\": \"python\"}";
  for (int i = 0; i < kRounds; ++i) {
    const Stopwatch watch;
    BJ_TRY(const std::string made, client.text("POST", contexts, body));
    BJ_TRY(const std::string id, text_in_answer(made, "id"));
    BJ_CHECK(execute(client, contexts + "/" + id, "6 * 7", "42"));
    if (i >= 5) times.first.add(watch.ms());
    BJ_CHECK(client.text("DELETE", contexts + "/" + id));
    ::usleep(50'000);  // as people do: not all the time
  }
  BJ_TRY(const std::string made, client.text("POST", contexts, body));
  BJ_TRY(const std::string id, text_in_answer(made, "id"));
  const std::string context = contexts + "/" + id;
  BJ_CHECK(execute(client, context, kFill, "1000"));
  for (int i = 0; i < kRounds; ++i) {
    BJ_CHECK(execute(client, context, fmt::format("state = {}", i), "\"error\":null"));
    const Stopwatch keeping;
    BJ_TRY(const std::string kept, client.text("POST", context + "/checkpoints", "{}"));
    times.checkpoint.add(keeping.ms());
    BJ_TRY(const std::string checkpoint, text_in_answer(kept, "id"));
    BJ_CHECK(execute(client, context, "state = 'changed'; data[0][0]", "120"));
    const Stopwatch returning;
    BJ_CHECK(client.text("POST", context + "/rollback", fmt::format("{{\"checkpoint_id\": \"{}\"}}", checkpoint)));
    times.rollback.add(returning.ms());
    BJ_CHECK(execute(client, context, "state", fmt::format("\"{}\"", i)));
    BJ_CHECK(client.text("DELETE", context + "/checkpoints/" + checkpoint));
  }
  return {};
}

BenchRow row_of(const char* work, const Sample& sample, double most_ms) {
  BenchRow row;
  row.work = work;
  row.p50_ms = sample.p50();
  row.p99_ms = sample.p99();
  row.goal = fmt::format("p50 <= {:g} ms", most_ms);
  row.met = sample.p50() <= most_ms;
  return row;
}

}  // namespace

Task<Result<BenchRows>> bench_interpreter(SandboxBench bench) {
  Times times;
  const auto work = [&]() -> Result<void> {
    BJ_TRY(const BenchServer server,
           BenchServer::start(fmt::format("{}/server-{}", bench.options.scratch, ::getpid())));
    BJ_TRY(PlainClient client, PlainClient::connect(server.port(), server.key()));
    BJ_TRY(const std::string made, client.text("POST", "/v1/sandboxes", "{\"timeout\": 3600}"));
    BJ_TRY(const std::string id, text_in_answer(made, "id"));
    return measure(client, "/v1/sandboxes/" + id + "/contexts", times);
  };
  asio::thread_pool thread(1);
  BJ_CO_CHECK(co_await offload(thread, work));
  co_return BenchRows{row_of("new interpreter context -> first result", times.first, 5),
                      row_of("Python checkpoint with 100 MB of objects", times.checkpoint, 8),
                      row_of("rollback to it", times.rollback, 8)};
}

}  // namespace bj
