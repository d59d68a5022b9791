#include <cstdio>
#include <iostream>
#include "engine/engine.h"
#include "sys/files.h"
#include <boost/json/serialize.hpp>
#include <boost/json/parse.hpp>
using namespace bj;
int main(int argc, char** argv) {
  asio::io_context io(1);
  auto engine = Engine::create(io, {.data_directory = "/tmp/bjdata", .python_pool = {.least = 0, .most = 0, .warm = 0}});
  if (!engine) { std::fprintf(stderr, "%s\n", engine.error().what.c_str()); return 3; }
  int rc = 0;
  asio::co_spawn(io, [&]() -> Task<void> {
    auto started = co_await (*engine)->start();
    if (!started) { std::fprintf(stderr, "start: %s\n", started.error().what.c_str()); rc = 3; co_return; }
    auto base = (*engine)->templates().find("base");
    if (!base) { std::fprintf(stderr, "base: %s\n", base.error().what.c_str()); rc = 3; co_return; }
    if (std::string(argv[1]) == "exec") {
      auto box = co_await (*engine)->create_sandbox([&]{ SandboxSpec s; s.image = *base; return s; }());
      if (!box) { std::fprintf(stderr, "create: %s\n", box.error().what.c_str()); rc = 3; co_return; }
      ProcessSpec p; for (int i = 2; i < argc; ++i) p.arguments.push_back(argv[i]);
      auto process = co_await (*box)->start(p);
      if (!process) { std::fprintf(stderr, "start: %s\n", process.error().what.c_str()); rc = 3; co_await (*box)->destroy(); co_return; }
      process->input.reset();
      Captured out, err;
      { asio::posix::stream_descriptor o(io, process->output.release()); co_await capture(o, 1 << 20, out); }
      { asio::posix::stream_descriptor o(io, process->error.release()); co_await capture(o, 1 << 20, err); }
      auto exit = co_await process->exit->get();
      std::printf("%s%s[%d]\nseal: %s\n", out.text.c_str(), err.text.c_str(), exit ? exit->status : -1, (*box)->seal().missing().c_str());
      co_await (*box)->destroy();
    } else {
      CallSpec c; c.environment.image = *base; c.environment.interpreter = "/usr/bin/python3"; c.source = *read_file(argv[1]); c.filename = argv[1];
      if (c.filename.ends_with(".ts")) c.language = Language::kTypeScript;
      c.arguments = boost::json::parse(argv[2]).get_object();
      auto r = co_await (*engine)->call(c);
      if (!r) { std::fprintf(stderr, "call: %s\n", r.error().what.c_str()); rc = 3; }
      else std::printf("%s %s err=%s:%s\n%s\nout=%s err=%s %.2f ms seal %s\n", status_name(r->status), boost::json::serialize(r->value).c_str(), r->error.name.c_str(), r->error.message.c_str(), r->error.traceback.c_str(), r->output.c_str(), r->error_output.c_str(), r->duration_ms, r->seal.missing().c_str());
    }
    co_await (*engine)->stop();
  }, asio::detached);
  io.run();
  return rc;
}
