// Calls and sandboxes whose gate was opened before anybody knew what they may reach. The places to reach are servers on
// this machine's loopback, listed as an administrator would: the smallest world that a gate can reach.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "egress/policy_json.h"
#include "engine/engine.h"
#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

// Returns what the server of a port says, or the name of the error.
constexpr const char* kAsk = R"(
def ask(ports):
    import errno, socket
    said = []
    for port in ports:
        try: said.append(socket.create_connection(("127.0.0.1", port), timeout=10).recv(100).decode())
        except OSError as error: said.append(errno.errorcode[error.errno])
    return ",".join(said)
)";

// Greets whoever connects and waits for him to go.
class Greeter {
 public:
  Greeter(asio::io_context& context, std::string greeting)
      : acceptor_(context, {asio::ip::address_v4::loopback(), 0}), greeting_(std::move(greeting)) {}
  uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void start() {
    spawn(acceptor_.get_executor(), [this]() -> Task<void> {
      for (;;) {
        auto [error, client] = co_await acceptor_.async_accept(kNoThrow);
        if (error) co_return;
        (void)co_await asio::async_write(client, asio::buffer(greeting_), kNoThrow);
        boost::system::error_code ignored;
        client.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        (void)co_await client.async_wait(asio::ip::tcp::socket::wait_read, kNoThrow);
      }
    });
  }
  void stop() { acceptor_.close(); }

 private:
  asio::ip::tcp::acceptor acceptor_;
  std::string greeting_;
};

class GatedCallTest : public testing::Test {
 protected:
  void tell(std::function<Task<Result<void>>(Engine&)> story) {
    EngineOptions options;
    options.data_directory = data_;
    options.sandboxes_ahead = 1;
    Result<std::unique_ptr<Engine>> engine = Engine::create(context_, options);
    if (!engine) GTEST_SKIP() << engine.error().what;
    Result<void> result;
    one_.start();
    two_.start();
    spawn(context_.get_executor(), [&]() -> Task<void> {
      result = co_await (*engine)->start();
      if (result) result = co_await story(**engine);
      co_await (*engine)->stop();
      one_.stop();
      two_.stop();
    });
    context_.run();
    EXPECT_TRUE(result) << result.error().what;
  }

  static NetworkPolicy only(uint16_t port) {
    const std::string text = R"({"private_addresses": ["127.0.0.1:)" + std::to_string(port) + R"("]})";
    return parse_network_policy_text(text, PolicySource{"test", PolicyAuthor::kAdministrator, {}}).value();
  }

  Result<CallSpec> ask(Engine& engine, NetworkPolicy network) const {
    CallSpec spec;
    BJ_TRY(spec.environment.image, engine.templates().find("base"));
    spec.environment.interpreter = "/usr/bin/python3";
    spec.source = kAsk;
    spec.arguments = {{"ports", {one_.port(), two_.port()}}};
    spec.network = std::move(network);
    return spec;
  }

  asio::io_context context_{1};
  Greeter one_{context_, "one"}, two_{context_, "two"};
  ScratchDirectory own_directory_;
  const std::string& data_ = own_directory_.path();
};

TEST_F(GatedCallTest, AProcessThatWaitedAheadReachesWhatItsCallMayAndNoMore) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    for (int round = 0; round < 2; ++round) {
      BJ_CO_TRY(CallSpec first, ask(engine, only(one_.port())));
      BJ_CO_TRY(CallSpec second, ask(engine, only(two_.port())));
      co_await engine.settle(first);
      BJ_CO_TRY(const CallResult of_first, co_await engine.call(first));
      EXPECT_EQ(of_first.value, "one,ECONNREFUSED") << of_first.error.message;
      co_await engine.settle(second);
      BJ_CO_TRY(const CallResult of_second, co_await engine.call(second));
      EXPECT_EQ(of_second.value, "ECONNREFUSED,two") << of_second.error.message;
    }
    co_return Result<void>();
  });
}

TEST_F(GatedCallTest, TheResultSaysWhatWasReachedAndTheListenerHeardIt) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(CallSpec spec, ask(engine, only(one_.port())));
    int ended = 0;
    spec.on_network = [&ended](const GateEvent& event) { ended += event.kind == GateEvent::Kind::kEnded ? 1 : 0; };
    BJ_CO_TRY(const CallResult result, co_await engine.call(std::move(spec)));
    if (!result.network || result.network->reached.size() != 1) co_return fail(Code::kInternal, "one was not noted");
    const NetworkUse::Reached& reached = result.network->reached.front();
    EXPECT_EQ(reached.host, "127.0.0.1");
    EXPECT_EQ(reached.port, one_.port());
    EXPECT_EQ(reached.connections, 1u);
    EXPECT_EQ(reached.bytes_received, 3u);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(result.seal.at(Control::kNetNs).state, ControlState::kOn);
    EXPECT_NE(result.seal.at(Control::kNetNs).detail.find("gate"), std::string::npos);
    co_return Result<void>();
  });
}

TEST_F(GatedCallTest, AModuleThatEndsAZygoteIsNotImportedAheadAgain) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    // The first process of a call is number 1, a zygote is not.
    const std::string packages = data_ + "/own-packages";
    BJ_CO_CHECK(make_directories(packages, 0755));
    BJ_CO_CHECK(write_file_atomically(packages + "/deadly.py", "import os\nif os.getpid() != 1: os._exit(7)\n", 0644));
    BJ_CO_TRY(CallSpec spec, ask(engine, only(one_.port())));
    spec.environment.host_packages = packages;
    spec.environment.site_dirs = {kPackagesInside};
    spec.source = "def ask(ports):\n    import deadly\n    return 'fine'\n";
    // It is learned, and every call after that had no zygote to come from.
    for (int i = 0; i < 8; ++i) {
      BJ_CO_TRY(const CallResult result, co_await engine.call(spec));
      EXPECT_EQ(result.value, "fine") << result.error.message;
      co_await engine.settle(spec);
    }
    co_return Result<void>();
  });
}

TEST_F(GatedCallTest, ACallWithoutANetworkHasNone) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(CallSpec spec, ask(engine, {}));
    BJ_CO_TRY(const CallResult result, co_await engine.call(std::move(spec)));
    EXPECT_EQ(result.value, "ECONNREFUSED,ECONNREFUSED");
    EXPECT_FALSE(result.network);
    EXPECT_EQ(result.seal.at(Control::kNetNs).detail.find("gate"), std::string::npos);
    co_return Result<void>();
  });
}

TEST_F(GatedCallTest, ABlankSandboxGetsItsPolicyWhenItIsTaken) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    for (int round = 0; round < 2; ++round) {
      SandboxSpec spec;
      BJ_CO_TRY(spec.image, engine.templates().find("base"));
      spec.network = only(round == 0 ? one_.port() : two_.port());
      BJ_CO_TRY(const auto sandbox, co_await engine.create_sandbox(std::move(spec)));
      ProcessSpec process;
      process.arguments = {"/usr/bin/python3", "-c",
                           std::string(kAsk) + "print(ask([" + std::to_string(one_.port()) + "," +
                               std::to_string(two_.port()) + "]), end='')"};
      BJ_CO_TRY(Process started, co_await sandbox->start(std::move(process)));
      asio::posix::stream_descriptor output(context_, started.output.release());
      Captured captured;
      co_await capture(output, 1000, captured);
      EXPECT_EQ(captured.text, round == 0 ? "one,ECONNREFUSED" : "ECONNREFUSED,two");
      EXPECT_NE(sandbox->seal().at(Control::kNetNs).detail.find("with the policy"), std::string::npos);
      co_await sandbox->destroy();
      co_await engine.settle_sandboxes();
    }
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
