#include "tools/tool_runner.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "store/store_test_support.h"

namespace bj {
namespace {

namespace json = boost::json;

using ProviderAnswer = tl::expected<CallResult, ProviderFailure>;

// Answers as it was told to, and remembers what it was asked.
class FakeProvider : public Provider {
 public:
  FakeProvider(const char* name, ProviderAnswer answer, std::vector<ProviderCall>& asked)
      : name_(name), answer_(std::move(answer)), asked_(asked) {}
  const char* name() const override { return name_; }
  Task<ProviderAnswer> run(ProviderCall call, CallHooks hooks) override {
    asked_.push_back(std::move(call));
    ProviderAnswer answer = answer_;
    for (const GateEvent& event : events) {
      if (answer && !answer->network) answer->network.emplace();
      if (answer) answer->network->note(event);
      hooks.on_network(event);
    }
    co_return answer;
  }
  Task<Result<void>> rebuild(ProviderCall call) override {
    asked_.push_back(std::move(call));
    co_return Result<void>();
  }

  std::vector<GateEvent> events;  // that its calls cause

 private:
  const char* name_;
  ProviderAnswer answer_;
  std::vector<ProviderCall>& asked_;
};

ProviderAnswer succeeds() {
  CallResult result;
  result.status = CallStatus::kOk;
  result.value = 42;
  result.duration_ms = 1.5;
  return result;
}
ProviderAnswer does_not_start() {
  return tl::unexpected(ProviderFailure{{Code::kUnavailable, "no machine was free"}, false});
}
ProviderAnswer breaks_off() {
  return tl::unexpected(ProviderFailure{{Code::kUnavailable, "the connection broke"}, true});
}

// A runner on a real store, with providers that are fakes.
class ToolRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.data_directory = directory_.path();
    auto opened = Store::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    configs_ = std::make_unique<ConfigManager>(*store_, SandboxDefaults());
    recorder_ = std::make_unique<CallRecorder>(io_.get_executor(), *store_, threads_, std::chrono::hours(0));
    client_ = HttpClient::create().value();
    auto notary = Notary::open(directory_.path());
    ASSERT_TRUE(notary) << notary.error().what;
    audit_ = std::make_unique<AuditLog>(io_.get_executor(), *store_, threads_, std::move(*notary));
    runner_ = std::make_unique<ToolRunner>(ToolRunner::Parts{
        *store_, threads_, settings_, *configs_, *recorder_, *audit_, *client_, {{"PATH", "/bin"}}, {}});
  }
  void TearDown() override { threads_.join(); }

  void with_modal() { settings_.modal_token_id.value = settings_.modal_token_secret.value = "token"; }
  void with_e2b() { settings_.e2b_api_key.value = "key"; }
  void add(const char* name, ProviderAnswer answer) {
    runner_->add_provider(std::make_unique<FakeProvider>(name, std::move(answer), asked_[name]));
  }
  size_t asked(const std::string& name) { return asked_[name].size(); }

  RunRequest request(const std::string& wish = "") {
    RunRequest run;
    run.tool.name = "f";
    run.tool.source_code = "def f(): return 1";
    if (!wish.empty()) run.tool.metadata = R"({"sandbox": ")" + wish + R"("})";
    return run;
  }

  // Runs it and writes its record.
  Result<RunOutcome> run(RunRequest wanted) {
    Result<RunOutcome> outcome = fail(Code::kInternal, "it did not end");
    const auto work = [](ToolRunner* runner, CallRecorder* recorder, RunRequest run,
                         Result<RunOutcome>* out) -> Task<void> {
      *out = co_await runner->run(std::move(run));
      co_await recorder->flush();
    };
    asio::co_spawn(io_, work(runner_.get(), recorder_.get(), std::move(wanted), &outcome), asio::detached);
    io_.restart();
    io_.run();
    return outcome;
  }

  CallRow record_of(const RunOutcome& outcome) {
    const Result<CallRow> row = store_->calls().get(kDefaultOrganization, outcome.call_id);
    EXPECT_TRUE(row) << row.error().what;
    return row ? *row : CallRow();
  }

  std::string agent_with(const std::string& label, const std::string& value) {
    NewAgent fresh;
    fresh.row.name = "ada";
    fresh.row.project_id = "project-1";
    BlockRow block;
    block.label = label;
    block.value = value;
    fresh.blocks = {block};
    fresh.variables.push_back({"WHO", Secret("agent"), {}});
    return store_->agents().create({}, std::move(fresh))->id;
  }

  // Writes the receipts, oldest first.
  std::vector<AuditRow> receipts() {
    asio::co_spawn(io_, audit_->flush(),
                   [](const std::exception_ptr&, const Result<void>& done) { EXPECT_TRUE(done) << done.error().what; });
    io_.restart();
    io_.run();
    AuditFilter filter;
    filter.order = Order::kAscending;
    return store_->audit().list(filter).value();
  }

  ScratchDirectory directory_;
  asio::io_context io_;
  asio::thread_pool threads_{1};
  ToolSettings settings_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ConfigManager> configs_;
  std::unique_ptr<CallRecorder> recorder_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<ToolRunner> runner_;
  std::map<std::string, std::vector<ProviderCall>> asked_;
};

TEST_F(ToolRunnerTest, AnotherProviderIsTriedWhenTheFirstCanNotStart) {
  with_modal();
  add("modal", does_not_start());
  add("local", succeeds());
  const auto outcome = run(request("modal"));
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_TRUE(outcome->success);
  EXPECT_EQ(outcome->value, 42);
  EXPECT_EQ(outcome->provider, "local");
  EXPECT_EQ(asked("modal"), 1u);
  EXPECT_EQ(asked("local"), 1u);
}

TEST_F(ToolRunnerTest, NoOtherProviderIsTriedOnceTheToolMayHaveRun) {
  with_modal();
  add("modal", breaks_off());
  add("local", succeeds());
  const auto outcome = run(request("modal"));
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_FALSE(outcome->success);
  EXPECT_FALSE(outcome->answered);
  EXPECT_EQ(outcome->provider, "modal");
  EXPECT_EQ(outcome->value, "Error executing function f: RuntimeError: the connection broke");
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(ToolRunnerTest, AFailureOfTheToolIsNotAFailureToStart) {
  with_modal();
  CallResult failed;
  failed.status = CallStatus::kError;
  failed.error = {"builtins.ValueError", "no", "Traceback"};
  add("modal", failed);
  add("local", succeeds());
  const auto outcome = run(request("modal"));
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->value, "Error executing function f: ValueError: no");
  EXPECT_TRUE(outcome->answered);
  EXPECT_EQ(outcome->provider, "modal");
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(ToolRunnerTest, ToolsThatDoNotAskForModalNeverGoThere) {
  with_modal();
  add("modal", succeeds());
  add("local", succeeds());
  EXPECT_EQ(run(request())->provider, "local");
  EXPECT_EQ(run(request("local"))->provider, "local");
  EXPECT_EQ(asked("modal"), 0u);
}

TEST_F(ToolRunnerTest, AToolThatMustStayHereStaysHereWhateverKeysThereAre) {
  with_modal();
  with_e2b();
  add("modal", succeeds());
  add("e2b", succeeds());
  add("local", does_not_start());
  const auto outcome = run(request("local"));
  EXPECT_FALSE(outcome->success);
  EXPECT_EQ(outcome->provider, "local");
  EXPECT_EQ(asked("modal") + asked("e2b"), 0u);
}

TEST_F(ToolRunnerTest, TheDefaultIsE2bWhenThereIsAKeyAndModalFallsBackToIt) {
  with_modal();
  with_e2b();
  add("modal", does_not_start());
  add("e2b", succeeds());
  add("local", succeeds());
  EXPECT_EQ(run(request())->provider, "e2b");
  EXPECT_EQ(run(request("modal"))->provider, "e2b");
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(ToolRunnerTest, AProviderThatIsNotThereIsAClearError) {
  with_e2b();
  add("local", succeeds());
  const auto outcome = run(request());
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_FALSE(outcome->success);
  EXPECT_EQ(outcome->provider, "e2b");
  EXPECT_NE(outcome->error.message.find("this server can't run tools on e2b"), std::string::npos);
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(ToolRunnerTest, AModalThatIsNotThereFallsBack) {
  with_modal();
  add("local", succeeds());
  EXPECT_EQ(run(request("modal"))->provider, "local");
}

TEST_F(ToolRunnerTest, WhenNobodyCanStartItTheLastReasonIsTold) {
  with_modal();
  add("modal", breaks_off());
  add("local", does_not_start());
  with_e2b();
  add("e2b", does_not_start());
  const auto outcome = run(request("e2b"));
  EXPECT_EQ(outcome->error.message, "no machine was free");
  EXPECT_EQ(outcome->status, CallStatus::kError);
  EXPECT_EQ(outcome->value, "Error executing function f: RuntimeError: no machine was free");
}

TEST_F(ToolRunnerTest, LayersOfTheEnvironmentReachTheProviderOfTheirType) {
  with_modal();
  add("modal", does_not_start());
  add("local", succeeds());
  const std::string local = configs_->find_or_create({}, SandboxType::kLocal)->id;
  const std::string modal = configs_->find_or_create({}, SandboxType::kModal)->id;
  for (const auto& [config, name] : {std::pair(local, "local"), std::pair(modal, "modal")}) {
    ASSERT_TRUE(store_->sandbox_variables().upsert({}, config, {"WHERE", Secret(name), {}}));
    ASSERT_TRUE(store_->sandbox_variables().upsert({}, config, {"WHO", Secret("config"), {}}));
    ASSERT_TRUE(store_->sandbox_variables().upsert({}, config, {"MINE", Secret("config"), {}}));
  }
  RunRequest wanted = request("modal");
  wanted.agent_id = agent_with("human", "x");
  wanted.variables = {{"MINE", "caller"}, {"WHO", "caller"}, {"LETTA_AGENT_ID", "forged"}, {"LETTA_TOOL_ID", "forged"}};
  wanted.tool.id = "tool-1";
  ASSERT_TRUE(run(wanted)->success);
  for (const char* provider : {"modal", "local"}) {
    const auto& variables = asked_[provider].at(0).variables;
    EXPECT_EQ(variables.at("WHERE"), provider);
    EXPECT_EQ(variables.at("WHO"), "agent");
    EXPECT_EQ(variables.at("MINE"), "caller");
    EXPECT_EQ(variables.at("LETTA_AGENT_ID"), *wanted.agent_id);
    EXPECT_EQ(variables.at("LETTA_PROJECT_ID"), "project-1");
    EXPECT_EQ(variables.at("LETTA_TOOL_ID"), "tool-1");
  }
  EXPECT_EQ(asked_["local"][0].variables.at("PATH"), "/bin");
  EXPECT_FALSE(asked_["modal"][0].variables.contains("PATH"));
}

TEST_F(ToolRunnerTest, ARequirementThatIsAnOptionStopsTheCallBeforeAnyProvider) {
  with_modal();
  add("modal", succeeds());
  add("local", succeeds());
  RunRequest wanted = request("modal");
  wanted.tool.pip_requirements = R"([{"name": "--index-url=http://evil"}])";
  const auto outcome = run(std::move(wanted));
  EXPECT_FALSE(outcome->success);
  EXPECT_NE(outcome->error.message.find("options are not allowed"), std::string::npos);
  EXPECT_EQ(asked("modal") + asked("local"), 0u);
}

TEST_F(ToolRunnerTest, MemoryThatComesBackIsKeptForItsOwnAgentOnly) {
  const std::string agent = agent_with("human", "before");
  const std::string other = agent_with("human", "theirs");
  const BlockRow ours = store_->agents().blocks(kDefaultOrganization, agent)->at(0);
  const BlockRow theirs = store_->agents().blocks(kDefaultOrganization, other)->at(0);
  CallResult result = *succeeds();
  result.agent_state = {{"id", other},
                        {"memory",
                         {{"blocks",
                           {{{"id", ours.id}, {"label", "human"}, {"value", "after"}},
                            {{"id", theirs.id}, {"label", "human"}, {"value", "forged"}}}}}}};
  add("local", result);
  RunRequest wanted = request();
  wanted.agent_id = agent;
  ASSERT_TRUE(run(wanted)->success);
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, agent)->at(0).value, "after");
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, other)->at(0).value, "theirs");
}

TEST_F(ToolRunnerTest, AStateWithoutAnAgentChangesNothing) {
  const std::string agent = agent_with("human", "before");
  const BlockRow block = store_->agents().blocks(kDefaultOrganization, agent)->at(0);
  CallResult result = *succeeds();
  result.agent_state = {{"memory", {{"blocks", {{{"id", block.id}, {"label", "human"}, {"value", "forged"}}}}}}};
  add("local", result);
  ASSERT_TRUE(run(request())->success);
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, agent)->at(0).value, "before");
}

TEST_F(ToolRunnerTest, EveryCallIsRecordedWithWhoRanIt) {
  with_modal();
  add("modal", breaks_off());
  CallResult result = *succeeds();
  result.limits_hit = {"output"};
  add("local", result);
  RunRequest wanted = request();
  wanted.tool.id = "tool-1";
  wanted.agent_id = agent_with("human", "x");
  const CallRow good = record_of(*run(wanted));
  EXPECT_EQ(good.status, "ok");
  EXPECT_EQ(good.provider, "local");
  EXPECT_EQ(good.tool_id, "tool-1");
  EXPECT_EQ(good.agent_id, wanted.agent_id);
  EXPECT_EQ(good.duration_us, 1500);
  EXPECT_EQ(good.limits_hit, R"(["output"])");
  EXPECT_TRUE(good.fingerprint);
  const CallRow bad = record_of(*run(request("modal")));
  EXPECT_EQ(bad.status, "error");
  EXPECT_EQ(bad.provider, "modal");
  EXPECT_FALSE(bad.tool_id);
}

TEST_F(ToolRunnerTest, AnUnknownAgentIsAFailureAndNothingRuns) {
  add("local", succeeds());
  RunRequest wanted = request();
  wanted.agent_id = "agent-00000000-0000-4000-8000-000000000001";
  const auto outcome = run(std::move(wanted));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kNotFound);
  EXPECT_EQ(asked("local"), 0u);
}

// Of an organization that allows *.example.org.
class NetworkRunTest : public ToolRunnerTest {
 protected:
  void SetUp() override {
    ToolRunnerTest::SetUp();
    allow_in_organization("*.example.org");
  }
  static json::value allowing(const std::string& host) {
    return json::parse(R"({"rules": [{"allow": ")" + host + R"("}]})");
  }
  void allow_in_organization(const std::string& host) {
    ASSERT_TRUE(store_->network_policies().put({}, json::serialize(allowing(host))));
  }
  RunRequest asking(const std::string& host) {
    RunRequest wanted = request();
    wanted.network.network = allowing(host);
    return wanted;
  }
  void add_credential(const std::string& name, const char* binding) {
    ASSERT_TRUE(store_->credentials().create({}, name, binding, Secret("the-value-of-" + name)));
  }
  const ProviderCall& last() { return asked_["local"].back(); }
};

constexpr char kBinding[] = R"({"hosts": ["api.example.org"], "header": "Authorization"})";

TEST_F(NetworkRunTest, ACallThatDoesNotAskHasNoNetworkAndNoCredentials) {
  add("local", succeeds());
  add_credential("github", kBinding);
  const auto outcome = run(request());
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_TRUE(last().network.allows_nothing());
  EXPECT_TRUE(last().credentials.empty());
  EXPECT_TRUE(network_json(*outcome).is_null());
}

TEST_F(NetworkRunTest, WhatTheCallAsksForIsNarrowedByTheOrganization) {
  add("local", succeeds());
  ASSERT_TRUE(run(asking("api.example.org")));
  EXPECT_FALSE(decide_name(last().network, "api.example.org").denied());
  EXPECT_TRUE(decide_name(last().network, "www.example.org").denied());
  ASSERT_TRUE(run(asking("evil.example")));
  EXPECT_TRUE(decide_name(last().network, "evil.example").denied());
}

TEST_F(NetworkRunTest, AToolAndAConfigurationAskToo) {
  add("local", succeeds());
  RunRequest by_tool = request();
  by_tool.tool.metadata = R"({"network": {"rules": [{"allow": "api.example.org"}]}})";
  ASSERT_TRUE(run(by_tool));
  EXPECT_FALSE(decide_name(last().network, "api.example.org").denied());
  ASSERT_TRUE(configs_->put_as({}, SandboxType::kLocal, {{"network", allowing("www.example.org")}}));
  ASSERT_TRUE(run(request()));
  EXPECT_FALSE(decide_name(last().network, "www.example.org").denied());
  ASSERT_TRUE(run(by_tool));  // both: nothing is left
  EXPECT_TRUE(decide_name(last().network, "www.example.org").denied());
  EXPECT_TRUE(decide_name(last().network, "api.example.org").denied());
}

TEST_F(NetworkRunTest, AnOrganizationThatAllowsNothingIsToldToWhoeverAsks) {
  add("local", succeeds());
  ASSERT_TRUE(store_->network_policies().remove(kDefaultOrganization));  // the server's: none
  const auto outcome = run(asking("api.example.org"));
  ASSERT_TRUE(outcome && outcome->success);
  EXPECT_TRUE(last().network.allows_nothing());
  EXPECT_NE(json::serialize(network_json(*outcome)).find("organization's network policy allows nothing"),
            std::string::npos);
}

TEST_F(NetworkRunTest, AStoredPolicyThatIsBrokenFailsTheCallAndRunsNothing) {
  add("local", succeeds());
  RunRequest broken = request();
  broken.tool.metadata = R"({"network": {"rules": "*"}})";
  const auto outcome = run(broken);
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_FALSE(outcome->success);
  EXPECT_NE(outcome->error.message.find("network policy of the tool"), std::string::npos) << outcome->error.message;
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(NetworkRunTest, NamedCredentialsOfTheOrganizationGoToTheGateAndPlaceholdersToTheEnvironment) {
  add("local", succeeds());
  add_credential("github", kBinding);
  add_credential("npm", R"({"hosts": ["api.example.org"], "header": "X-Key", "variable": "NPM_KEY",
                            "placeholder": "placeholder-1"})");
  add_credential("unnamed", kBinding);
  RunRequest wanted = asking("api.example.org");
  wanted.tool.metadata = R"({"credentials": ["github"]})";
  wanted.network.credentials = {"npm", "github"};
  ASSERT_TRUE(run(wanted));
  ASSERT_EQ(last().credentials.size(), 2u);
  EXPECT_EQ(last().credentials[0].name, "github");
  EXPECT_EQ(last().credentials[0].value->reveal(), "the-value-of-github");
  EXPECT_EQ(last().variables.at("NPM_KEY"), "placeholder-1");
  for (const auto& [name, value] : last().variables) EXPECT_EQ(value.find("the-value-of"), std::string::npos) << name;
  for (const AuditRow& receipt : receipts()) EXPECT_EQ(receipt.detail.find("the-value-of"), std::string::npos);
}

TEST_F(NetworkRunTest, AnotherOrganizationsCredentialIsNone) {
  add("local", succeeds());
  const Actor other = new_actor(*store_);
  ASSERT_TRUE(store_->credentials().create(other, "theirs", kBinding, Secret("their-value")));
  RunRequest wanted = asking("api.example.org");
  wanted.network.credentials = {"theirs"};
  const auto outcome = run(wanted);
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_FALSE(outcome->success);
  EXPECT_NE(outcome->error.message.find("there is no credential \"theirs\""), std::string::npos);
  EXPECT_EQ(asked("local"), 0u);
}

TEST_F(NetworkRunTest, WhatHappensAtTheGateIsToldLiveSummedUpAndReceipted) {
  GateEvent denied;
  denied.kind = GateEvent::Kind::kNameDenied;
  denied.host = "evil.example";
  denied.decision = {Verdict::kDeny, "organization", -1, "", "no rule allows evil.example"};
  GateEvent connected = denied;
  connected.kind = GateEvent::Kind::kConnected;
  connected.host = "api.example.org";
  connected.port = 443;
  GateEvent over = connected;
  over.kind = GateEvent::Kind::kEnded;
  over.bytes_sent = 10;
  over.bytes_received = 2000;
  auto provider = std::make_unique<FakeProvider>("local", succeeds(), asked_["local"]);
  provider->events = {denied, connected, over};
  runner_->add_provider(std::move(provider));
  std::vector<std::string> heard;
  RunRequest wanted = asking("api.example.org");
  wanted.hooks.on_network = [&heard](const GateEvent& event) { heard.push_back(event.host); };
  const auto outcome = run(wanted);
  ASSERT_TRUE(outcome && outcome->success);
  EXPECT_EQ(heard, (std::vector<std::string>{"evil.example", "api.example.org", "api.example.org"}));
  EXPECT_EQ(network_json(*outcome).at("denied").at(0).at("host"), "evil.example");
  const std::vector<AuditRow> rows = receipts();
  ASSERT_EQ(rows.size(), 3u);
  for (const AuditRow& row : rows) EXPECT_EQ(row.call_id, outcome->call_id);
  EXPECT_EQ(rows[0].outcome, "denied");
  EXPECT_EQ(rows[1].outcome, "allowed");
  EXPECT_EQ(rows[2].kind, "call");
  const json::value totals = json::parse(rows[2].detail).at("network");
  EXPECT_EQ(totals.at("bytes_received"), 2000);
  EXPECT_EQ(totals.at("hosts").at(0).at("host"), "api.example.org");
}

}  // namespace
}  // namespace bj
