// GET and POST /files: contents, in constant memory, and signed links that name their sandbox by nothing else. POST
// /files/compose: several files become one.
#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <set>

#include "api/e2b/envd.h"
#include "api/e2b/sandbox_json.h"
#include "api/file_conditions.h"
#include "api/file_range.h"
#include "api/gzip.h"
#include "api/multipart.h"
#include "base/compact_id.h"
#include "control/sandbox_steps.h"
#include "server/dispatcher.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr size_t kPiece = 1 << 20;
constexpr unsigned kFileMode = 0644;
constexpr size_t kLongestNoteName = 246;
constexpr size_t kMostNotes = 4096;
constexpr size_t kMostSources = 1000;          // of a file that is composed
constexpr uint64_t kMostUnwanted = 256 << 20;  // of an upload that was refused
constexpr std::string_view kNoteHeader = "x-metadata-";
// Of an upload: the client sends what it is still making.
constexpr auto kLongestPause = std::chrono::seconds(60);

using Opened = SandboxFiles::Opened;
// What was asked for can't be done: the answer that says so.
template <class T>
using Or = tl::expected<T, HttpResponse>;

tl::unexpected<HttpResponse> refuse(unsigned status, std::string_view message) {
  return tl::unexpected(plain_error(status, message));
}

unsigned status_of_failure(const Error& error) {
  if (error.sys == ENOSPC) return 507;
  if (error.code == Code::kNotFound) return 404;
  if (error.code == Code::kDenied) return 403;
  return error.code == Code::kInvalid || error.sys != 0 ? 400 : 500;  // a kernel's refusal inside is the caller's
}

// A sandbox that has ended meanwhile is answered for as it is from then on.
tl::unexpected<HttpResponse> refuse(const Error& error) {
  if (error.code == Code::kUnavailable) return refuse(502, "The sandbox was not found: " + error.what);
  return refuse(status_of_failure(error), error.what);
}

struct FileCall {
  EnvdCall call;
  std::string query_path;
  std::string rights;  // whose rights the work is done with
};

Task<Or<FileCall>> file_call(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox,
                             std::string user) {
  const std::string* const path = request.query.find("path");
  FileCall file{{services, request, std::move(sandbox), std::move(user), {}}, path == nullptr ? "" : *path, {}};
  file.rights = file.call.files().strongest_user();
  if (!co_await file.call.files().find_account(file.call.user))
    co_return refuse(401, "error looking up user '" + file.call.user + "': invalid username: '" + file.call.user + "'");
  co_return file;
}

Or<std::string> resolved(const FileCall& file, const std::string& path) {
  RpcResult<std::string> absolute = path_in(file.call, path);
  if (!absolute) return refuse(400, absolute.error().message);
  return std::move(*absolute);
}

// ---- reading

enum class Coding { kIdentity, kGzip, kNone };

// gzip only for who asks for nothing else: packing costs more than the way it saves for all the others.
Coding coding_for(std::string_view accepted) {
  const bool gzip = accepted.find("gzip") != std::string_view::npos;
  const bool no_identity = accepted.find("identity;q=0") != std::string_view::npos ||
                           accepted.find("identity; q=0") != std::string_view::npos ||
                           accepted.find("*;q=0") != std::string_view::npos;
  if (no_identity) return gzip ? Coding::kGzip : Coding::kNone;
  return accepted == "gzip" ? Coding::kGzip : Coding::kIdentity;
}

Task<void> send_plain(std::shared_ptr<HeldSandbox> sandbox, Opened opened, ByteRange range, BodyWriter& body) {
  for (uint64_t at = range.first, left = range.length; left > 0;) {
    const size_t most = static_cast<size_t>(std::min<uint64_t>(left, kPiece));
    Result<std::string> piece = co_await sandbox->live->files().read(opened, at, most);
    if (!piece || piece->empty()) co_return;  // it shrank: the client sees that bytes are missing
    at += piece->size();
    left -= piece->size();
    if (!co_await body.write(std::move(*piece))) co_return;
  }
}

Task<void> send_packed(std::shared_ptr<HeldSandbox> sandbox, Opened opened, BodyWriter& body) {
  GzipWriter writer;
  for (uint64_t at = 0;;) {
    const Result<std::string> piece = co_await sandbox->live->files().read(opened, at, kPiece);
    if (!piece) co_return body.abandon();
    if (piece->empty()) break;
    at += piece->size();
    if (!co_await body.write(writer.add(*piece))) co_return;
  }
  (void)co_await body.write(writer.finish());
}

Task<Or<Opened>> open_file(const FileCall& file, std::string path) {
  SandboxFiles& files = file.call.files();
  const Result<Fd> there = co_await files.locate(path, file.rights, LastLink::kFollow);
  if (!there && there.error().code == Code::kNotFound) co_return refuse(404, "path '" + path + "' does not exist");
  if (!there) co_return refuse(there.error());
  struct stat status{};
  if (::fstat(there->get(), &status) != 0) co_return refuse(500, "the file can't be looked at");
  if (S_ISDIR(status.st_mode)) co_return refuse(400, "path '" + path + "' is a directory");
  if (!S_ISREG(status.st_mode)) co_return refuse(400, "path '" + path + "' is not a regular file");
  Result<Opened> opened = co_await files.open_to_read(path, file.rights);
  if (!opened) co_return refuse(opened.error());
  co_return std::move(*opened);
}

Task<HttpResponse> download(FileCall file) {
  const Or<std::string> path = resolved(file, file.query_path);
  if (!path) co_return path.error();
  const HttpRequest& request = file.call.request;
  const Or<Opened> opened = co_await open_file(file, *path);
  if (!opened) co_return opened.error();
  const auto sandbox = file.call.sandbox;
  HttpResponse response = text_response(200, "application/octet-stream", "");
  response.headers.add("Content-Disposition", "inline");
  response.headers.add("Vary", "Accept-Encoding");
  response.headers.add("Accept-Ranges", "bytes");
  response.headers.add("Last-Modified", http_date(opened->info.modified_us));
  const Condition condition = condition_of(request.headers, opened->info.modified_us);
  if (condition == Condition::kFailed) co_return plain_error(412, "the file was changed since then");
  if (condition == Condition::kNotModified) {
    response.status = 304;
    co_return response;
  }
  const uint64_t size = opened->info.size;
  const bool ranged = range_counts(request.headers, opened->info.modified_us);
  const std::string_view range_text = ranged ? request.headers.get("Range") : "";
  const Coding coding = coding_for(request.headers.get("Accept-Encoding"));
  if (coding == Coding::kNone) co_return plain_error(406, "no acceptable encoding: identity and gzip are there");
  if (coding == Coding::kGzip && range_text.empty()) {
    response.headers.add("Content-Encoding", "gzip");
    response.stream = [sandbox, file = *opened](BodyWriter& body) { return send_packed(sandbox, file, body); };
    co_return response;
  }
  const std::optional<ByteRange> range = range_of(range_text, size);
  if (!range) {
    response = plain_error(416, "the file has no such range");
    response.headers.add("Content-Range", fmt::format("bytes */{}", size));
    co_return response;
  }
  if (range->length != size) {
    response.status = 206;
    response.headers.add("Content-Range",
                         fmt::format("bytes {}-{}/{}", range->first, range->first + range->length - 1, size));
  }
  response.stream_bytes = range->length;
  response.stream = [sandbox, file = *opened, part = *range](BodyWriter& body) {
    return send_plain(sandbox, file, part, body);
  };
  co_return response;
}

// ---- writing

Or<FileNotes> notes_in(const HttpRequest& request) {
  FileNotes notes;
  size_t total = 0;
  for (const auto& [name, value] : request.headers) {
    if (name.size() <= kNoteHeader.size() || !equal_ignoring_case(name.substr(0, kNoteHeader.size()), kNoteHeader))
      continue;
    std::string key = name.substr(kNoteHeader.size());
    for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (!std::all_of(value.begin(), value.end(), printable) || key.size() > kLongestNoteName)
      return refuse(400, "metadata must be of printable ASCII, its names of 246 bytes at most");
    total += key.size() + value.size();
    notes[key] = value;
  }
  if (total > kMostNotes) return refuse(400, "metadata may have 4096 bytes in all");
  return notes;
}

// One file on its way in, written in large pieces.
class Incoming {
 public:
  Incoming(SandboxFiles& files, Opened opened) : files_(files), opened_(std::move(opened)) {}

  Task<Or<bool>> add(std::string_view bytes) {
    waiting_ += bytes;
    if (waiting_.size() < kPiece) co_return true;
    co_return co_await flush();
  }
  Task<Or<bool>> finish(const FileNotes& notes) {
    Or<bool> flushed = co_await flush();
    if (!flushed) co_return flushed;
    const Result<void> noted = set_notes(opened_.file->get(), kNotePrefix, notes);
    if (!noted && !notes.empty()) co_return refuse(500, "metadata can't be kept: " + noted.error().what);
    co_return true;
  }
  const FileInfo& info() const { return opened_.info; }
  uint64_t written() const { return written_; }

 private:
  Task<Or<bool>> flush() {
    if (waiting_.empty()) co_return true;
    written_ += waiting_.size();
    const Result<void> kept = co_await files_.write(opened_, std::exchange(waiting_, {}));
    if (!kept && kept.error().sys == ENOSPC) co_return refuse(507, "not enough disk space available");
    if (!kept) co_return refuse(kept.error());
    co_return true;
  }

  SandboxFiles& files_;
  Opened opened_;
  std::string waiting_;
  uint64_t written_ = 0;
};

Task<bool> is_directory(const FileCall& file, const std::string& path) {
  const Result<Fd> there = co_await file.call.files().locate(path, file.rights, LastLink::kFollow);
  struct stat status{};
  co_return (there && ::fstat(there->get(), &status) == 0 && S_ISDIR(status.st_mode));
}

Task<Or<std::unique_ptr<Incoming>>> open_incoming(const FileCall& file, std::string given) {
  const Or<std::string> path = resolved(file, given);
  if (!path) co_return tl::unexpected(path.error());
  SandboxFiles& files = file.call.files();
  if (co_await is_directory(file, *path)) co_return refuse(400, "path is a directory: " + *path);
  Result<Opened> opened = co_await files.open_to_write(*path, file.rights, kFileMode, Writing::kReplace, Parents::kMake,
                                                       owner_in(file.call));
  if (!opened) co_return refuse(opened.error());
  co_return std::make_unique<Incoming>(files, std::move(*opened));
}

void receipt(const FileCall& file, const std::string& path, const Incoming& incoming) {
  Event event;
  event.kind = EventKind::kFileWrite;
  event.action = "sandbox.write_file";
  event.actor = owner_of(file.call.sandbox->row);
  event.subject = file.call.sandbox->row.id;
  event.outcome = "success";
  event.detail = {{"path", short_name(path)}, {"bytes", incoming.written()}};
  file.call.services.audit.add(event);
}

json::object written_json(const Incoming& incoming, const FileNotes& notes) {
  json::object entry{{"path", incoming.info().path}, {"name", incoming.info().name}, {"type", "file"}};
  if (notes.empty()) return entry;
  json::object shown;
  for (const auto& [key, value] : notes) shown[key] = value;
  entry["metadata"] = std::move(shown);
  return entry;
}

Task<Or<bool>> receive_plain(const FileCall& file, Incoming& incoming) {
  const bool packed = equal_ignoring_case(file.call.request.headers.get("Content-Encoding"), "gzip");
  GzipReader reader;
  for (;;) {
    Result<std::string> piece = co_await file.call.request.body_stream->read();
    if (!piece) co_return tl::unexpected(body_failure(piece.error()));
    if (piece->empty()) break;
    if (!packed) {
      Or<bool> added = co_await incoming.add(*piece);
      if (!added) co_return added;
      continue;
    }
    reader.feed(std::move(*piece));
    for (;;) {
      Result<std::string> out = reader.take();
      if (!out) co_return refuse(400, out.error().what);
      if (out->empty()) break;
      Or<bool> added = co_await incoming.add(*out);
      if (!added) co_return added;
    }
  }
  if (packed && !reader.is_over()) co_return refuse(400, "the gzip body ends too early");
  co_return true;
}

Task<HttpResponse> upload_plain(FileCall file, FileNotes notes) {
  if (file.query_path.empty()) co_return plain_error(400, "path is required for an octet-stream upload");
  const Or<std::unique_ptr<Incoming>> incoming = co_await open_incoming(file, file.query_path);
  if (!incoming) co_return incoming.error();
  const Or<bool> received = co_await receive_plain(file, **incoming);
  if (!received) co_return received.error();
  const Or<bool> finished = co_await (*incoming)->finish(notes);
  if (!finished) co_return finished.error();
  receipt(file, (*incoming)->info().path, **incoming);
  co_return json_response(200, json::array{written_json(**incoming, notes)});
}

// The parts of one body, each into its file.
class Upload {
 public:
  Upload(const FileCall& file, const FileNotes& notes) : file_(file), notes_(notes) {}

  Task<Or<bool>> take(MultipartReader& reader, MultipartReader::Event event) {
    using Event = MultipartReader::Event;
    if (event == Event::kPart) co_return co_await begin(reader.head());
    if (event == Event::kData && current_) co_return co_await current_->add(reader.data());
    if (event != Event::kPartEnd || !current_) co_return true;
    Or<bool> finished = co_await current_->finish(notes_);
    if (!finished) co_return finished;
    receipt(file_, current_->info().path, *current_);
    written_.push_back(written_json(*current_, notes_));
    current_.reset();
    co_return true;
  }
  json::array& written() { return written_; }

 private:
  Task<Or<bool>> begin(const PartHead& head) {
    if (head.name != "file") co_return true;
    const std::string given = file_.query_path.empty() ? head.file_name.value_or("") : file_.query_path;
    if (given.empty()) co_return refuse(400, "a part has no file name, and there is no path");
    Or<std::unique_ptr<Incoming>> incoming = co_await open_incoming(file_, given);
    if (!incoming) co_return tl::unexpected(incoming.error());
    if (!paths_.insert((*incoming)->info().path).second)
      co_return refuse(400, "you cannot upload multiple files to the same path '" + (*incoming)->info().path + "'");
    current_ = std::move(*incoming);
    co_return true;
  }

  const FileCall& file_;
  const FileNotes& notes_;
  std::unique_ptr<Incoming> current_;
  std::set<std::string> paths_;
  json::array written_;
};

Task<HttpResponse> upload_parts(FileCall file, FileNotes notes, std::string boundary) {
  MultipartReader reader(boundary);
  Upload upload(file, notes);
  for (;;) {
    const Result<MultipartReader::Event> event = reader.next();
    if (!event) co_return plain_error(400, event.error().what);
    if (*event == MultipartReader::Event::kEnd) break;
    if (*event == MultipartReader::Event::kNeedMore) {
      const Result<std::string> piece = co_await file.call.request.body_stream->read();
      if (!piece) co_return body_failure(piece.error());
      if (piece->empty()) co_return plain_error(400, "the multipart body ends too early");
      reader.feed(*piece);
    } else {
      const Or<bool> taken = co_await upload.take(reader, *event);
      if (!taken) co_return taken.error();
    }
  }
  while (const auto rest = co_await file.call.request.body_stream->read()) {  // what follows the last boundary
    if (rest->empty()) break;
  }
  co_return json_response(200, upload.written());
}

Task<HttpResponse> upload(FileCall file) {
  const HttpRequest& request = file.call.request;
  if (const Result<void> admitted = co_await file.call.services.audit.admit(); !admitted)
    co_return plain_error(503, admitted.error().what);
  const Or<FileNotes> notes = notes_in(request);
  if (!notes) co_return notes.error();
  request.body_stream->allow_pauses(kLongestPause);
  const std::string_view type = request.headers.get("Content-Type");
  if (type.starts_with("application/octet-stream")) co_return co_await upload_plain(std::move(file), *notes);
  if (const std::optional<std::string> boundary = multipart_boundary(type))
    co_return co_await upload_parts(std::move(file), *notes, *boundary);
  co_return plain_error(400, "the body must be multipart/form-data or application/octet-stream");
}

// ---- several files that become one

struct Composition {
  std::vector<std::string> sources;
  std::string target;
};

Or<Composition> composition_in(const FileCall& file, const json::object& body) {
  Composition wanted;
  const json::value* const sources = body.if_contains("source_paths");
  if (sources == nullptr || !sources->is_array() || sources->get_array().empty() ||
      sources->get_array().size() > kMostSources || text_in(body, "destination").empty())
    return refuse(400, "the body must have source_paths, 1 to 1000 of them, and a destination");
  for (const json::value& one : sources->get_array()) {
    if (!one.is_string() || one.get_string().empty()) return refuse(400, "source_paths must be a list of paths");
    Or<std::string> path = resolved(file, std::string(one.get_string()));
    if (!path) return tl::unexpected(std::move(path.error()));
    wanted.sources.push_back(std::move(*path));
  }
  Or<std::string> target = resolved(file, text_in(body, "destination"));
  if (!target) return tl::unexpected(std::move(target.error()));
  wanted.target = std::move(*target);
  return wanted;
}

Task<Or<bool>> append_file(const FileCall& file, const std::string& path, Incoming& incoming) {
  const Or<Opened> opened = co_await open_file(file, path);
  if (!opened) co_return tl::unexpected(opened.error());
  for (uint64_t at = 0;;) {
    const Result<std::string> piece = co_await file.call.files().read(*opened, at, kPiece);
    if (!piece) co_return refuse(piece.error());
    if (piece->empty()) co_return true;
    at += piece->size();
    Or<bool> added = co_await incoming.add(*piece);
    if (!added) co_return added;
  }
}

// Beside the target until it is whole: what fails changes nothing, and the target may be one of the sources.
Task<Or<bool>> compose(const FileCall& file, const Composition& wanted, const std::string& aside, Incoming& incoming) {
  for (const std::string& source : wanted.sources) {
    Or<bool> appended = co_await append_file(file, source, incoming);
    if (!appended) co_return appended;
  }
  Or<bool> finished = co_await incoming.finish({});
  if (!finished) co_return finished;
  const Result<void> moved = co_await file.call.files().move(aside, wanted.target, file.rights);
  if (!moved) co_return refuse(moved.error());
  co_return true;
}

Task<HttpResponse> compose_files(FileCall file, Composition wanted) {
  if (const Result<void> admitted = co_await file.call.services.audit.admit(); !admitted)
    co_return plain_error(503, admitted.error().what);
  if (co_await is_directory(file, wanted.target))
    co_return plain_error(400, "destination is a directory: " + wanted.target);
  SandboxFiles& files = file.call.files();
  const size_t slash = wanted.target.rfind('/') + 1;
  const std::string aside = wanted.target.substr(0, slash) + "." + new_compact_id("part");
  const Or<std::unique_ptr<Incoming>> incoming = co_await open_incoming(file, aside);
  if (!incoming) co_return incoming.error();
  const Or<bool> composed = co_await compose(file, wanted, aside, **incoming);
  if (!composed) {
    (void)co_await files.remove(aside, file.rights, Removal::kFileOrEmpty);
    co_return composed.error();
  }
  receipt(file, wanted.target, **incoming);
  for (const std::string& source : wanted.sources) {
    if (source != wanted.target) (void)co_await files.remove(source, file.rights, Removal::kFileOrEmpty);
  }
  co_return json_response(
      200, json::object{{"path", wanted.target}, {"name", wanted.target.substr(slash)}, {"type", "file"}});
}

// A client that still sends would not see why it was refused: the connection breaks under what nobody reads.
Task<void> read_the_rest(const HttpRequest& request) {
  for (uint64_t left = kMostUnwanted; left > 0;) {
    const Result<std::string> piece = co_await request.body_stream->read();
    if (!piece || piece->empty()) co_return;
    left -= std::min<uint64_t>(left, piece->size());
  }
}

// The sandbox whose token made this signature; tokens are unique, so there is one at most.
std::shared_ptr<HeldSandbox> sandbox_of(const Services& services, const HttpRequest& request, FileOperation operation) {
  for (const auto& [id, sandbox] : services.manager.all_held()) {
    if (is_signed_with(request, operation, services.tokens.control(id))) return sandbox;
  }
  return nullptr;
}

Task<HttpResponse> answer_signed(const Services& services, HttpRequest& request) {
  const FileOperation operation = request.method == Method::kPost ? FileOperation::kWrite : FileOperation::kRead;
  if (request.query.find("signature") == nullptr) co_return plain_error(401, "missing signature query parameter");
  const std::shared_ptr<HeldSandbox> found = sandbox_of(services, request, operation);
  if (!found) co_return plain_error(401, "invalid signature");
  const Result<std::shared_ptr<HeldSandbox>> sandbox = co_await services.manager.for_traffic(found->row.id);
  if (!sandbox) co_return plain_error(502, "The sandbox was not found");
  co_return co_await answer_envd(services, request, *sandbox);
}

}  // namespace

Task<HttpResponse> answer_files(const Services& services, HttpRequest& request, std::shared_ptr<HeldSandbox> sandbox) {
  const std::string* const user = request.query.find("username");
  Or<FileCall> file = co_await file_call(services, request, std::move(sandbox), user == nullptr ? "" : *user);
  if (request.method == Method::kPost) {
    HttpResponse response = file ? co_await upload(std::move(*file)) : std::move(file.error());
    if (response.status >= 400) co_await read_the_rest(request);
    co_return response;
  }
  if (!file) co_return file.error();
  if (request.method == Method::kGet || request.method == Method::kHead) co_return co_await download(std::move(*file));
  co_return plain_error(405, "only GET and POST");
}

Task<HttpResponse> answer_compose(const Services& services, HttpRequest& request,
                                  std::shared_ptr<HeldSandbox> sandbox) {
  json::error_code bad;
  const json::value body = json::parse(request.body, bad);
  if (bad || !body.is_object()) co_return plain_error(400, "the body must be a JSON object");
  Or<FileCall> file = co_await file_call(services, request, std::move(sandbox), text_in(body.get_object(), "username"));
  if (!file) co_return file.error();
  Or<Composition> wanted = composition_in(*file, body.get_object());
  if (!wanted) co_return wanted.error();
  co_return co_await compose_files(std::move(*file), std::move(*wanted));
}

void add_signed_file_routes(Router& router, const Services& services) {
  RouteOptions options;
  options.access = Access::kPublic;  // the signature is the proof
  options.body = BodyKind::kStreamed;
  options.body_limit = UINT64_MAX;
  options.errors = ErrorForm::kCodeAndMessage;
  options.doc.tag = "e2b";
  options.doc.summary = "A file of the sandbox whose token signed the link";
  const Handler handler = [&services](HttpRequest& request) { return answer_signed(services, request); };
  router.add(Method::kGet, "/files", handler, options);
  router.add(Method::kPost, "/files", handler, options);
}

}  // namespace bj::e2b
