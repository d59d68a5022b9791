// The tool service behind its server, as `belljar serve` puts it together, in this process: with a store of its own
// that goes afterwards, a key, and an agent with a tool, memory and secrets, as callers have them.
#pragma once

#include <memory>
#include <string>

#include "base/async.h"
#include "bench/http_load.h"
#include "engine/engine.h"
#include "server/http_server.h"
#include "service/tool_service.h"

namespace bj {

struct BenchServiceOptions {
  std::string directory;  // must not exist; removed by stop()
  CallSpec like;          // the pool that its calls come from: interpreter and limits
  int tools = 1;          // stored, the called one included
};

class BenchService {
 public:
  static Task<Result<std::unique_ptr<BenchService>>> start(Engine& engine, BenchServiceOptions options);
  // Needed before it goes.
  Task<void> stop();

  // add(2, 3) of the agent's tool, by the Letta route.
  const HttpCall& call() const { return call_; }

 private:
  BenchService(Engine& engine, std::string directory, std::unique_ptr<ToolService> service,
               std::unique_ptr<HttpServer> server);
  Result<void> fill(const ToolSettings& settings, int tools);
  Task<Result<void>> serve();

  std::string directory_;
  Router router_;
  Metrics metrics_;
  std::unique_ptr<ToolService> service_;
  std::unique_ptr<HttpServer> server_;
  asio::any_io_executor executor_;
  OneShot<bool> served_;
  HttpCall call_;
};

}  // namespace bj
