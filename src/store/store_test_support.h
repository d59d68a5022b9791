// What the store's tests share: a data directory of their own, and a real PostgreSQL from the distribution's package,
// started when the first test asks for it and stopped with the test program.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/id.h"
#include "store/store.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {

// A child of the test; killed and waited for at the latest when this goes.
class ChildProcess {
 public:
  ChildProcess() = default;
  template <class F>
  explicit ChildProcess(F work) : pid_(::fork()), owner_(::getpid()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    ::_exit(1);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { stop(SIGKILL); }
  int wait() {
    int status = -1;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  void stop(int signal) {
    if (pid_ <= 0 || ::getpid() != owner_) return;
    ::kill(pid_, signal);
    wait();
  }

 private:
  pid_t pid_ = -1;
  pid_t owner_ = -1;
};

class PostgresServer {
 public:
  // Nothing if it can't run here; `why_not()` says why.
  static PostgresServer* get() {
    static PostgresServer server;
    return server.why_not_.empty() ? &server : nullptr;
  }
  static std::string& why_not() {
    static std::string reason;
    return reason;
  }

  std::string url(const std::string& database) const {
    return "postgresql:///" + database + "?host=" + directory_.path() + "&user=belljar";
  }
  std::string new_database() {
    const std::string name = "test_" + std::to_string(next_++);
    run("CREATE DATABASE " + name);
    return name;
  }
  void run(const std::string& sql) {
    PGconn* connection = PQconnectdb(url("postgres").c_str());
    PGresult* result = PQexec(connection, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQresultErrorMessage(result);
    PQclear(result);
    PQfinish(connection);
  }
  const std::string& directory() const { return directory_.path(); }

 private:
  PostgresServer() {
    why_not_ = start();
    why_not() = why_not_;
  }
  ~PostgresServer() {
    if (server_) server_->stop(SIGQUIT);  // at once: nobody needs what it holds
  }

  static std::string find_programs() {
    std::string newest;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      const std::string programs = entry.path() / "bin";
      if (std::filesystem::exists(programs + "/initdb") && programs > newest) newest = programs;
    }
    return newest;
  }

  // PostgreSQL refuses to run as root.
  void exec_as_user(const std::vector<std::string>& words) const {
    if (::getuid() == 0 && (::setgroups(0, nullptr) || ::setgid(group_) || ::setuid(user_))) ::_exit(2);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the change of user, which clears it
    const int log = ::open((directory_.path() + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(log, 1);
    ::dup2(log, 2);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(3);
  }

  std::string start() {
    const std::string programs = find_programs();
    if (programs.empty()) return "there is no PostgreSQL in /usr/lib/postgresql";
    if (::getuid() == 0) {
      const passwd* user = ::getpwnam("postgres");
      if (!user) return "there is no user postgres to run PostgreSQL as";
      user_ = user->pw_uid;
      group_ = user->pw_gid;
      if (::chown(directory_.path().c_str(), user_, group_) != 0) return "chown failed";
    }
    const std::string data = directory_.path() + "/data";
    ChildProcess initdb([&] {
      exec_as_user({programs + "/initdb", "-D", data, "-U", "belljar", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                    "--no-sync", "--no-instructions"});
    });
    if (initdb.wait() != 0) return "initdb failed";
    server_ = std::make_unique<ChildProcess>([&] {
      exec_as_user({programs + "/postgres", "-D", data, "-k", directory_.path(), "-c", "listen_addresses=", "-c",
                    "fsync=off", "-c", "deadlock_timeout=100ms", "-c", "max_connections=60"});
    });
    for (int i = 0; i < 600; i++) {
      if (PQping(url("postgres").c_str()) == PQPING_OK) return "";
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return "PostgreSQL did not start within 30 s";
  }

  ScratchDirectory directory_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::unique_ptr<ChildProcess> server_;  // goes before the directory
  std::string why_not_;
  int next_ = 1;
};

// Every test of a store runs on both engines, each with a database of its own.
class StoreTest : public testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DatabaseKind::kSqlite) return;
    PostgresServer* server = PostgresServer::get();
    if (!server) GTEST_SKIP() << PostgresServer::why_not();
    url_ = server->url(server->new_database());
  }

  StoreOptions options() const {
    StoreOptions options;
    options.database_url = url_;
    options.data_directory = directory_.path();
    return options;
  }
  std::unique_ptr<Store> open() const { return open(options()); }
  static std::unique_ptr<Store> open(StoreOptions options) {
    auto store = Store::open(std::move(options));
    EXPECT_TRUE(store) << store.error().what;
    return store ? std::move(*store) : nullptr;
  }

  ScratchDirectory directory_;
  std::string url_;
};

inline std::string engine_name(const testing::TestParamInfo<DatabaseKind>& info) {
  return info.param == DatabaseKind::kSqlite ? "Sqlite" : "Postgres";
}
#define BJ_ON_BOTH_ENGINES(suite) \
  INSTANTIATE_TEST_SUITE_P(Engines, suite, testing::Values(DatabaseKind::kSqlite, DatabaseKind::kPostgres), engine_name)

// An actor of a new organization.
inline Actor new_actor(Store& store, const std::string& name = "other") {
  const auto organization = store.organizations().create(name);
  const auto user = store.users().create(organization->id, name);
  Actor actor;
  actor.organization = organization->id;
  actor.user = user->id;
  return actor;
}

}  // namespace bj
