#include "images/image_puller.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "engine/import/template_import.h"
#include "sys/bytes.h"
#include "sys/files.h"
#include "sys/newest_files.h"
#include "sys/pipe.h"
#include "sys/program.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr uint64_t kMostImageBytes = 10ull << 30;  // packed
constexpr const char* kBlobs = "/.blobs";
constexpr const char* kGone = ".gone-";  // before the digest of one that is being removed
constexpr auto kBetweenLines = std::chrono::milliseconds(500);

std::string size_text(uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

bool exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  BJ_TRY(const Fd file, open_path(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  return write_all(file.get(), text, path);
}

// An OCI layout with the one manifest in it; blobs are linked in later.
Result<std::string> make_layout(const std::string& directory, const FetchedManifest& manifest) {
  BJ_CHECK(make_directories(directory + kBlobs, 0700));
  std::string path = directory + "/.pull-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp(" + path + ")");
  BJ_CHECK(make_directories(path + "/blobs/sha256", 0700));
  BJ_CHECK(write_text(path + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})"));
  const json::object index{{"schemaVersion", 2},
                           {"manifests", json::array{json::object{{"mediaType", manifest.media_type},
                                                                  {"digest", "sha256:" + manifest.digest},
                                                                  {"size", manifest.text.size()}}}}};
  BJ_CHECK(write_text(path + "/index.json", json::serialize(index)));
  BJ_CHECK(write_text(path + "/blobs/sha256/" + manifest.digest, manifest.text));
  return path;
}

void remove_layout(const std::string& directory, const std::string& path) {
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (store) (void)remove_tree(store->get(), path.substr(directory.size() + 1));
}

// What a server that was killed left: a pull of another living one is younger than a day.
void remove_old_layouts(const std::string& directory) {
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (!store) return;
  const auto entries = list_directory(store->get());
  if (!entries) return;
  for (const Entry& entry : *entries) {
    struct stat info{};
    const bool ours = entry.name.starts_with(".pull-");
    if (!ours || ::fstatat(store->get(), entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (::time(nullptr) - info.st_mtime > 24 * 3600) (void)remove_tree(store->get(), entry.name);
  }
}

// Images are named by 64 hex digits; whatever else lies there is not one.
Result<std::vector<std::string>> images_in(const std::string& directory) {
  std::vector<std::string> digests;
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (!store && store.error().code == Code::kNotFound) return digests;
  if (!store) return tl::unexpected(store.error());
  BJ_TRY(const std::vector<Entry> entries, list_directory(store->get()));
  for (const Entry& entry : entries) {
    if (entry.name.size() == 64 && entry.name.find_first_not_of("0123456789abcdef") == std::string::npos)
      digests.push_back(entry.name);
  }
  return digests;
}

// Also what a server that was killed did not come to the end of.
void remove_gone(const std::string& directory) {
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  const auto entries = store ? list_directory(store->get()) : Result<std::vector<Entry>>(std::vector<Entry>());
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (entry.name.starts_with(kGone)) (void)remove_tree(store->get(), entry.name);
  }
}

// The unpacking program, with nothing of ours but a pipe.
Result<Program> start_unpacking(const PullOptions& options, const std::string& name, const std::string& source,
                                const Fd& output) {
  ProgramSpec spec;
  spec.path = options.program;
  spec.arguments = {"belljar", "unpack-image", options.directory, name, source};
  spec.environment = {{"PATH=/usr/bin:/bin", "HOME=/"}};
  spec.output = output.get();
  return Program::start(spec);
}

// Reads messages up to the last one. Blocks.
Result<ImportReport> run_unpacking(const PullOptions& options, const std::string& name, const std::string& source,
                                   const std::function<void(const ImportProgress&)>& progress) {
  BJ_TRY(Pipe pipe, make_pipe());
  BJ_TRY(const Program program,
         start_unpacking(options, name, source, pipe.write));  // killed when it has said its last
  pipe.write.reset();
  Result<ImportReport> outcome = fail(Code::kUnavailable, "the image's unpacking ended without a word");
  std::string pending;
  bool open = true;
  while (open) {
    char buffer[65536];
    const Moved read = read_some(pipe.read.get(), buffer, sizeof buffer);
    open = read.size > 0;
    pending.append(buffer, read.size);
    for (size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const Result<ImportMessage> message = decode(pending.substr(0, end));
      pending.erase(0, end + 1);
      if (!message) continue;
      if (const auto* error = std::get_if<Error>(&*message)) outcome = tl::unexpected(*error);
      if (const auto* report = std::get_if<ImportReport>(&*message)) outcome = *report;
      if (const auto* step = std::get_if<ImportProgress>(&*message)) progress(*step);
    }
    if (pending.size() > kLongestMessage) open = false;
  }
  return outcome;
}

}  // namespace

struct ImagePuller::Running {
  explicit Running(const asio::any_io_executor& executor) : over(executor, Clock::time_point::max()) {}
  asio::steady_timer over;  // cancelled when it is
  std::optional<Result<void>> outcome;
};

ImagePuller::ImagePuller(HttpClient& client, PullOptions options) : client_(client), options_(std::move(options)) {}
ImagePuller::~ImagePuller() { threads_.join(); }

Task<Result<PulledImage>> ImagePuller::pull(std::string reference, RegistryLogin login, PullProgress progress) {
  BJ_CO_TRY(ImageReference image, parse_image_reference(reference));
  progress("asking for " + image.text());
  RegistrySession session(client_, options_.access, std::move(image), std::move(login));
  BJ_CO_TRY(FetchedManifest manifest, co_await session.manifest());
  const std::string digest = manifest.digest;
  const ImageHold held = hold(digest);
  if (exists(options_.directory + "/" + digest + "/rootfs")) {
    progress("sha256:" + digest + " is here already");
    co_return PulledImage{digest, false, held};
  }
  if (const auto found = running_.find(digest); found != running_.end()) {
    const std::shared_ptr<Running> other = found->second;
    progress("it is being pulled already");
    while (!other->outcome) (void)co_await expired(other->over);
    BJ_CO_CHECK(*other->outcome);
    co_return PulledImage{digest, true, held};
  }
  const auto running = std::make_shared<Running>(co_await asio::this_coro::executor);
  running_[digest] = running;
  running->outcome = co_await fetch(session, std::move(manifest), std::move(progress));
  running_.erase(digest);
  running->over.cancel();
  BJ_CO_CHECK(*running->outcome);
  co_return PulledImage{digest, true, held};
}

ImageHold ImagePuller::hold(const std::string& digest) {
  asked_for_.insert(digest);
  if (const auto found = held_.find(digest); found != held_.end()) {
    if (ImageHold there = found->second.lock()) return there;
  }
  ImageHold fresh = std::make_shared<int>(0);
  held_[digest] = fresh;
  return fresh;
}

// An image is renamed away on this thread, on which pull() looks for it: it is either found whole or pulled anew.
Task<Result<std::vector<std::string>>> ImagePuller::prune(std::function<Result<std::set<std::string>>()> used) {
  std::erase_if(held_, [](const auto& one) { return one.second.expired(); });
  asked_for_.clear();
  for (const auto& [digest, hold] : held_) asked_for_.insert(digest);
  BJ_CO_TRY(const std::set<std::string> needed, co_await offload(threads_, used));
  const auto list = [this]() -> Result<std::vector<std::string>> { return images_in(options_.directory); };
  BJ_CO_TRY(const std::vector<std::string> all, co_await offload(threads_, list));
  std::vector<std::string> gone;
  for (const std::string& digest : all) {
    if (needed.contains(digest) || asked_for_.contains(digest)) continue;
    const std::string path = options_.directory + "/";
    if (::rename((path + digest).c_str(), (path + kGone + digest).c_str()) == 0) gone.push_back(digest);
  }
  const auto remove = [this] {
    remove_gone(options_.directory);
    return 0;
  };
  (void)co_await offload(threads_, remove);
  co_return gone;
}

Task<Result<void>> ImagePuller::fetch_blob(RegistrySession& session, BlobDescriptor blob, std::string staging,
                                           std::function<void(uint64_t)> progress) {
  const std::string kept = options_.directory + kBlobs + "/" + blob.digest;
  const std::string wanted = staging + "/blobs/sha256/" + blob.digest;
  if (exists(wanted)) co_return Result<void>();  // the same layer twice
  // What is kept was verified when it came, and is verified again when it is unpacked.
  if (::link(kept.c_str(), wanted.c_str()) == 0) {
    ::utimensat(AT_FDCWD, kept.c_str(), nullptr, 0);
    co_return Result<void>();
  }
  const std::string partial = wanted + ".partial";
  BJ_CO_TRY(Fd file, open_path(partial, O_WRONLY | O_CREAT | O_EXCL, 0600));
  BJ_CO_CHECK(co_await session.blob(blob, std::make_shared<Fd>(std::move(file)), std::move(progress)));
  if (::rename(partial.c_str(), wanted.c_str()) != 0) co_return fail_errno("rename(" + partial + ")");
  (void)::link(wanted.c_str(), kept.c_str());
  co_return Result<void>();
}

Task<Result<void>> ImagePuller::fetch(RegistrySession& session, FetchedManifest manifest, PullProgress progress) {
  uint64_t sum = 0;
  for (const BlobDescriptor& blob : manifest.blobs) {
    if (blob.size > kMostImageBytes - sum) co_return fail(Code::kExhausted, "the image is larger than 10 GiB, packed");
    sum += blob.size;
  }
  const auto prepare = [&] {
    remove_old_layouts(options_.directory);
    return make_layout(options_.directory, manifest);
  };
  BJ_CO_TRY(const std::string staging, co_await offload(threads_, prepare));
  // Progress comes on other threads, often; lines are for this one, and few.
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto told = std::make_shared<std::atomic<Clock::rep>>(0);
  const auto tell = [executor, told, progress](const std::string& line) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = told->load();
    if (now - last < Clock::duration(kBetweenLines).count() || !told->compare_exchange_strong(last, now)) return;
    asio::post(executor, [progress, line] { progress(line); });
  };
  Result<void> outcome;
  for (size_t i = 0; i < manifest.blobs.size() && outcome; ++i) {
    const BlobDescriptor& blob = manifest.blobs[i];
    const std::string what = i == 0 ? "config" : fmt::format("layer {} of {}", i, manifest.blobs.size() - 1);
    progress(fmt::format("{}: {}", what, size_text(blob.size)));
    outcome = co_await fetch_blob(session, blob, staging, [tell, what, size = blob.size](uint64_t bytes) {
      tell(fmt::format("{}: {} of {}", what, size_text(bytes), size_text(size)));
    });
  }
  if (outcome) progress("unpacking");
  const auto unpack = [&]() -> Result<void> {
    const auto on_progress = [&tell](const ImportProgress& at) {
      tell(fmt::format("unpacking: {} entries, {}", at.entries, size_text(at.bytes)));
    };
    const Result<ImportReport> report = run_unpacking(options_, manifest.digest, staging, on_progress);
    if (!report && !exists(options_.directory + "/" + manifest.digest + "/rootfs"))
      return tl::unexpected(report.error());
    return {};
  };
  if (outcome) outcome = co_await offload(threads_, unpack);
  const auto clean = [&] {
    remove_layout(options_.directory, staging);
    keep_newest_files(options_.directory + kBlobs, options_.kept_blob_bytes);
    return 0;
  };
  (void)co_await offload(threads_, clean);
  co_return outcome;
}

int unpack_image(const std::string& directory, const std::string& name, const std::string& source) {
  const auto tell = [](const ImportProgress& progress) {
    (void)write_all(STDOUT_FILENO, encode(progress), "messages");
  };
  const Result<ImportReport> report = import_template(directory, name, source, ImportLimits{}, tell);
  const std::string last = report ? encode(*report) : encode(report.error());
  return write_all(STDOUT_FILENO, last, "messages") && report ? 0 : 1;
}

}  // namespace bj
