#include "providers/http_client.h"

#include <curl/curl.h>

#include <map>
#include <mutex>
#include <thread>

#include "providers/http_transfer.h"

namespace bj {
namespace {

constexpr int kMaxRedirects = 5;
constexpr int kIdlePollMs = 1000;  // new work and the end wake the thread earlier

struct Outcome {
  Result<ClientResponse> response = fail(Code::kUnavailable, "the HTTP client has stopped");
  std::string redirect;
};

// One exchange, shared by the waiting coroutine and the client's thread.
struct Job {
  Job(ClientRequest request, const asio::any_io_executor& where)
      : transfer(std::move(request)), executor(where), done(where) {}
  HttpTransfer transfer;
  asio::any_io_executor executor;
  OneShot<Outcome> done;  // touched on the executor only
};

void complete(const std::shared_ptr<Job>& job, Outcome outcome) {
  asio::post(job->executor, [job, outcome = std::move(outcome)]() mutable { job->done.set(std::move(outcome)); });
}

bool redirect_status(int status) { return status >= 300 && status < 400 && status != 304; }

bool follows(const ClientRequest& request, int status) {
  const bool keeps_method = status == 307 || status == 308;
  return keeps_method || request.method == "GET" || request.method == "HEAD";
}

}  // namespace

std::string_view ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

// The thread, its multi handle and the jobs it has.
class HttpClient::Worker {
 public:
  explicit Worker(CURLM* multi) : multi_(multi), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Worker() {
    thread_.request_stop();
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }

  void add(std::shared_ptr<Job> job) {
    {
      const std::lock_guard lock(mutex_);
      arrived_.push_back(std::move(job));
    }
    curl_multi_wakeup(multi_.get());
  }
  void wake() { curl_multi_wakeup(multi_.get()); }

 private:
  struct MultiDelete {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      take_arrived();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      finish_done();
      curl_multi_poll(multi_.get(), nullptr, 0, kIdlePollMs, nullptr);
    }
    take_arrived();
    for (auto& [easy, job] : active_) {
      curl_multi_remove_handle(multi_.get(), easy);
      complete(job, {});
    }
    active_.clear();
  }

  void take_arrived() {
    std::vector<std::shared_ptr<Job>> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(arrived_);
    }
    for (std::shared_ptr<Job>& job : jobs) {
      if (auto prepared = job->transfer.prepare(); !prepared) {
        complete(job, {tl::unexpected(prepared.error()), ""});
        continue;
      }
      CURL* easy = job->transfer.handle();
      curl_multi_add_handle(multi_.get(), easy);
      active_.emplace(easy, std::move(job));
    }
  }

  void finish_done() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto found = active_.find(message->easy_handle);
      const CURLcode code = message->data.result;
      const std::shared_ptr<Job> job = found->second;
      curl_multi_remove_handle(multi_.get(), found->first);
      active_.erase(found);
      std::string redirect = job->transfer.redirect();
      complete(job, {job->transfer.finish(code), std::move(redirect)});
    }
  }

  std::unique_ptr<CURLM, MultiDelete> multi_;
  std::mutex mutex_;  // guards arrived_
  std::vector<std::shared_ptr<Job>> arrived_;
  std::map<CURL*, std::shared_ptr<Job>> active_;  // of the thread
  std::jthread thread_;                           // last: it uses all of the above
};

Result<std::unique_ptr<HttpClient>> HttpClient::create() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return fail(Code::kInternal, "curl_global_init failed");
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) return fail(Code::kExhausted, "curl_multi_init failed");
  return std::make_unique<HttpClient>(std::make_unique<Worker>(multi));
}

HttpClient::HttpClient(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
HttpClient::~HttpClient() = default;

Task<Result<ClientResponse>> HttpClient::send_once(ClientRequest request, std::string& redirect) {
  auto job = std::make_shared<Job>(std::move(request), co_await asio::this_coro::executor);
  // Leaving early, by cancellation or an exception, ends the transfer.
  struct CancelOnExit {
    Job& job;
    Worker& worker;
    bool finished = false;
    ~CancelOnExit() {
      if (finished) return;
      job.transfer.cancel();
      worker.wake();
    }
  } guard{*job, *worker_};
  worker_->add(job);
  Result<Outcome> outcome = co_await job->done.get();
  if (!outcome) co_return tl::unexpected(outcome.error());
  guard.finished = true;
  redirect = std::move(outcome->redirect);
  co_return std::move(outcome->response);
}

Task<Result<ClientResponse>> HttpClient::send(ClientRequest request) {
  BJ_CO_CHECK(check_request(request));
  const Clock::time_point deadline = Clock::now() + request.timeout;
  for (int hop = 0;; ++hop) {
    std::string redirect;
    BJ_CO_TRY(ClientResponse response, co_await send_once(request, redirect));
    const bool follow = request.redirects == Redirects::kSameOrigin && redirect_status(response.status) &&
                        follows(request, response.status) && hop < kMaxRedirects && !redirect.empty() &&
                        origin_of(redirect) == origin_of(request.url);
    if (!follow) co_return response;
    request.url = redirect;
    request.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (request.timeout.count() <= 0)
      co_return fail(Code::kUnavailable, origin_of(request.url) + ": no answer in time");
  }
}

}  // namespace bj
