#include "cli/server_client.h"

#include <curl/curl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/event_reader.h"
#include "cli/server_place.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kUsualUrl = "http://127.0.0.1:8090";
constexpr size_t kLargestAnswer = 64 << 20;

// The server's own sentence, if it sent one.
std::string sentence_of(const std::string& body) {
  json::error_code bad;
  const json::value value = json::parse(body, bad);
  if (bad || !value.is_object()) return body.substr(0, 300);
  const json::value* const detail = value.get_object().if_contains("detail");
  return detail != nullptr && detail->is_string() ? std::string(detail->get_string()) : json::serialize(value);
}

Code code_of(long status) {
  switch (status) {
    case 404: return Code::kNotFound;
    case 401:
    case 403: return Code::kDenied;
    case 409: return Code::kConflict;
    case 429: return Code::kExhausted;
    case 503: return Code::kUnavailable;
    default: return status >= 500 ? Code::kInternal : Code::kInvalid;
  }
}

}  // namespace

struct ServerClient::Handle {
  Handle() : curl(curl_easy_init(), curl_easy_cleanup) {}
  std::unique_ptr<CURL, void (*)(CURL*)> curl;
};

// One request's two bodies.
struct ServerClient::Transfer {
  std::optional<std::string> sent;  // JSON, or whatever the path takes
  int from = -1;                    // or a file
  std::function<bool(std::string_view)> on_bytes;
  const Progress* progress = nullptr;
  bool events = false;
  CURL* curl = nullptr;
  std::string refusal;

  static size_t write(char* data, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view bytes(data, size * count);
    long status = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 300) {
      if (transfer.refusal.size() < 65536) transfer.refusal.append(bytes);
      return bytes.size();
    }
    return transfer.on_bytes(bytes) ? bytes.size() : 0;
  }
  static size_t read(char* into, size_t size, size_t count, void* self) {
    const ssize_t n = ::read(static_cast<Transfer*>(self)->from, into, size * count);
    return n < 0 ? CURL_READFUNC_ABORT : static_cast<size_t>(n);
  }
  static int tell(void* self, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up) {
    const auto& transfer = *static_cast<Transfer*>(self);
    const bool uploads = transfer.from >= 0;
    (*transfer.progress)(static_cast<uint64_t>(uploads ? up : down),
                         static_cast<uint64_t>(uploads ? up_all : down_all));
    return 0;
  }
};

ServerClient::ServerClient(std::string url, Secret key)
    : url_(std::move(url)), key_(std::move(key)), handle_(std::make_unique<Handle>()) {}
ServerClient::ServerClient(ServerClient&&) noexcept = default;
ServerClient& ServerClient::operator=(ServerClient&&) noexcept = default;
ServerClient::~ServerClient() = default;

Result<ServerClient> ServerClient::open(const Settings& settings, std::string url) {
  if (url.empty()) url = process_environment("BELLJAR_SERVER");
  if (url.empty()) url = ServerPlace::find(settings.data_directory).value_or(kUsualUrl);
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(Code::kInvalid, "the server \"" + url + "\" must be a url such as " + kUsualUrl);
  while (url.ends_with("/")) url.pop_back();
  std::string key = process_environment("BELLJAR_API_KEY");
  if (key.empty()) {
    const std::string file = settings.data_directory + "/admin.key";
    const Result<std::string> text = read_file(file, 4096);
    if (!text)
      return fail(Code::kInvalid, "there is no key: start the server (`belljar serve`), whose first start makes " +
                                      file + ", or set BELLJAR_API_KEY (" + text.error().what + ")");
    key = text->substr(0, text->find('\n'));
  }
  return ServerClient(std::move(url), Secret::take(std::move(key)));
}

std::string ServerClient::escaped(std::string_view text) {
  const std::unique_ptr<char, void (*)(void*)> made(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), curl_free);
  return made ? made.get() : "";
}

Result<void> ServerClient::perform(Transfer& transfer, const std::string& method, const std::string& path) {
  CURL* const curl = handle_->curl.get();
  if (curl == nullptr) return fail(Code::kInternal, "curl_easy_init failed");
  curl_easy_reset(curl);
  transfer.curl = curl;
  const std::string target = url_ + path;
  curl_slist* list = curl_slist_append(nullptr, ("Authorization: Bearer " + std::string(key_.reveal())).c_str());
  list = curl_slist_append(
      list, transfer.from >= 0 ? "Content-Type: application/octet-stream" : "Content-Type: application/json");
  list = curl_slist_append(list, "Expect:");
  if (transfer.events) list = curl_slist_append(list, "Accept: text/event-stream");
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  curl_easy_setopt(curl, CURLOPT_URL, target.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // a server of one's own is not behind the proxy to the world
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Transfer::write);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  if (transfer.sent) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.sent->size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, transfer.sent->c_str());
  } else if (transfer.from >= 0) {
    struct stat info{};
    const bool sized = ::fstat(transfer.from, &info) == 0 && S_ISREG(info.st_mode);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, Transfer::read);
    curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
    if (sized) curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(info.st_size));
  }
  if (transfer.progress != nullptr && *transfer.progress) {
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, Transfer::tell);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  }
  const CURLcode done = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (done == CURLE_COULDNT_CONNECT)
    return fail(Code::kUnavailable,
                "no server answers at " + url_ + ": start one with `belljar serve`, or name it with --server");
  if (done != CURLE_OK && status < 300)
    return fail(Code::kUnavailable, "the server at " + url_ + ": " + curl_easy_strerror(done));
  if (status >= 300) return fail(code_of(status), sentence_of(transfer.refusal));
  return {};
}

Result<json::value> ServerClient::ask(const std::string& method, const std::string& path,
                                      const std::optional<json::value>& body) {
  Transfer transfer;
  if (body) transfer.sent = json::serialize(*body);
  std::string answer;
  transfer.on_bytes = [&answer](std::string_view bytes) {
    answer.append(bytes);
    return answer.size() <= kLargestAnswer;
  };
  BJ_CHECK(perform(transfer, method, path));
  if (answer.empty()) return json::value(nullptr);
  json::error_code bad;
  json::value value = json::parse(answer, bad);
  if (bad) return fail(Code::kInternal, "the server's answer is no JSON");
  return value;
}

Result<void> ServerClient::listen(const std::string& method, const std::string& path,
                                  const std::optional<json::value>& body,
                                  const std::function<void(const ServerEvent&)>& on_event) {
  Transfer transfer;
  if (body) transfer.sent = json::serialize(*body);
  transfer.events = true;
  EventReader reader;
  transfer.on_bytes = [&](std::string_view bytes) {
    for (const auto& [name, data] : reader.feed(bytes)) {
      json::error_code bad;
      on_event({name, json::parse(data, bad)});
    }
    return true;
  };
  return perform(transfer, method, path);
}

Result<void> ServerClient::post(const std::string& path, std::string bytes) {
  Transfer transfer;
  transfer.sent = std::move(bytes);
  transfer.on_bytes = [](std::string_view) { return true; };
  return perform(transfer, "POST", path);
}

Result<void> ServerClient::upload(const std::string& path, int from, const Progress& progress) {
  Transfer transfer;
  transfer.from = from;
  transfer.progress = &progress;
  transfer.on_bytes = [](std::string_view) { return true; };
  return perform(transfer, "PUT", path);
}

Result<void> ServerClient::download(const std::string& path, int to, const Progress& progress) {
  Transfer transfer;
  transfer.progress = &progress;
  std::optional<Error> failed;
  transfer.on_bytes = [&](std::string_view bytes) {
    const Result<void> written = write_all(to, bytes, "the file");
    if (!written) failed = written.error();
    return written.has_value();
  };
  Result<void> done = perform(transfer, "GET", path);
  if (failed) return tl::unexpected(*failed);
  return done;
}

}  // namespace bj
