#include "control/template_export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/id.h"
#include "engine/environments/environment_output.h"
#include "engine/import/import_digest.h"
#include "engine/import/import_entry.h"
#include "sys/bytes.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kBlock = 512;
constexpr size_t kPiece = 256 << 10;
constexpr auto kLongestSilence = std::chrono::minutes(5);  // of a tar that packs
constexpr auto kBetweenLooks = std::chrono::seconds(1);
constexpr auto kKeptFor = std::chrono::minutes(10);
constexpr uint64_t kMostInOctal = (8ull << 30) - 1;
constexpr const char* kPack =
    "cd / && exec tar -cf - --exclude=./proc --exclude=./sys --exclude=./dev --exclude=./run --exclude=./tmp "
    "--exclude=./opt/belljar --exclude=./opt/packages .";

// Eleven octal digits; for more the binary form that every tar of today reads.
std::string size_field(uint64_t size) {
  if (size <= kMostInOctal) return fmt::format("{:011o}", size);
  std::string field(12, '\0');
  field[0] = '\x80';
  for (size_t i = 0; i < 8; ++i) field[11 - i] = static_cast<char>(size >> (8 * i));
  return field;
}

// The header of a plain file.
std::string tar_header(const std::string& name, uint64_t size) {
  std::string header(kBlock, '\0');
  const auto put = [&header](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size_field(size));
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

std::string padding(uint64_t size) { return std::string((kBlock - size % kBlock) % kBlock, '\0'); }

std::string config_of(const ResolvedTemplate& from, const std::string& digest) {
  json::array environment;
  for (const auto& [name, value] : from.image.environment) environment.emplace_back(name + "=" + value);
  json::object settings{{"Env", std::move(environment)}, {"User", from.image.user}};
  if (!from.image.workdir.empty()) settings["WorkingDir"] = from.image.workdir;
  if (!from.image.start_command.empty()) settings["Cmd"] = json::array{"/bin/sh", "-c", from.image.start_command};
  return json::serialize(json::object{{"architecture", "amd64"},
                                      {"os", "linux"},
                                      {"config", std::move(settings)},
                                      {"rootfs", {{"type", "layers"}, {"diff_ids", json::array{"sha256:" + digest}}}}});
}

// What a tar that packs has given so far, and where that goes.
struct Packing {
  std::shared_ptr<asio::posix::stream_descriptor> from;  // does not block
  std::shared_ptr<Fd> into;
  uint64_t most = 0;
  Sha256 hash;
  std::atomic<uint64_t> size = 0;
};

// What is there now, up to some pieces; true: more may come. On a worker, which never waits for the tar: it is the
// template's own, and takes as long as it likes.
Result<bool> take_pieces(Packing& packing) {
  constexpr int kAtOnce = 16;
  std::string piece(kPiece, '\0');
  for (int i = 0; i < kAtOnce; ++i) {
    const Moved read = read_some(packing.from->native_handle(), piece.data(), piece.size());
    if (read.not_now()) return true;
    if (!read.ok()) return fail_with(read.sys, "read(export)");
    if (read.ended()) return false;
    const std::string_view bytes(piece.data(), read.size);
    packing.size += bytes.size();
    if (packing.size > packing.most) return fail(Code::kExhausted, "the template is larger than can be exported");
    packing.hash.update(bytes);
    BJ_CHECK(write_all(packing.into->get(), bytes, "export"));
  }
  return true;
}

// Looks after a tar that packs: tells how far it is, and lets it live as long as it goes on, until it is `over`.
Task<void> watch_packing(std::shared_ptr<Sandbox> sandbox, std::shared_ptr<const Packing> packed,
                         std::shared_ptr<bool> over, ExportProgress progress) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (uint64_t last = 0; !*over;) {
    timer.expires_after(kBetweenLooks);
    (void)co_await expired(timer);
    const uint64_t now = packed->size.load();
    if (*over) continue;
    if (!progress(now)) sandbox->kill();
    if (now == last) continue;
    last = now;
    sandbox->expire_at(Clock::now() + kLongestSilence);
  }
}

}  // namespace

std::string what_is_exported(const TemplateContent& content) {
  if (content.root != "base") return "";
  return "the template lies over `base`, a view of this machine's own system: the archive holds all of that system "
         "that sandboxes see (/usr, /etc and the like), and what the template adds to it";
}

std::string TemplateExporter::keep(const std::string& organization, ExportedTemplate archive) {
  const std::string id = new_uuid4();
  const auto end = std::make_shared<asio::steady_timer>(engine_.host().executor, kKeptFor);
  end->async_wait([this, id](const boost::system::error_code& cancelled) {
    if (!cancelled) kept_.erase(id);
  });
  kept_[id] = {organization, std::move(archive), end};
  return id;
}

std::optional<ExportedTemplate> TemplateExporter::kept(const std::string& organization, const std::string& id) const {
  const auto found = kept_.find(id);
  if (found == kept_.end() || found->second.organization != organization) return std::nullopt;
  return found->second.archive;
}

void TemplateExporter::stop() {
  stopping_ = true;
  kept_.clear();
  for (const auto& one : packing_) {
    if (const auto sandbox = one.lock()) sandbox->kill();
  }
}

// The layer stands behind room for its header, which needs its size.
Task<Result<uint64_t>> TemplateExporter::pack(Template image, std::shared_ptr<Fd> into, std::string& digest,
                                              ExportProgress progress) {
  SandboxSpec spec;
  spec.image = std::move(image);
  spec.image.sudo = false;
  spec.image.workdir.clear();
  spec.limits = limits_;
  spec.limits.wall_ms = 0;
  if (engine_.host().uids) spec.user = "root";
  BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await Sandbox::create(engine_.host(), std::move(spec)));
  std::erase_if(packing_, [](const auto& one) { return one.expired(); });
  packing_.push_back(sandbox);
  if (stopping_) sandbox->kill();
  sandbox->expire_at(Clock::now() + kLongestSilence);
  ProcessSpec process;
  process.arguments = {"/bin/sh", "-c", kPack};
  process.directory = "/";
  Result<Process> started = co_await sandbox->start(std::move(process));
  if (!started) {
    co_await sandbox->destroy();
    co_return tl::unexpected(started.error());
  }
  started->input.reset();
  const auto errors =
      std::make_shared<LineReader>(engine_.host().executor, std::move(started->error), [](std::string_view) {}, 1024);
  errors->start();
  const auto packed = std::make_shared<Packing>();
  packed->into = std::move(into);
  packed->most = most_bytes_;
  packed->from = std::make_shared<asio::posix::stream_descriptor>(engine_.host().executor, started->output.release());
  packed->from->native_non_blocking(true);
  const auto over = std::make_shared<bool>(false);
  spawn(engine_.host().executor, [=] { return watch_packing(sandbox, packed, over, progress); });
  Result<bool> copied = true;
  while (copied && *copied && co_await readable(*packed->from)) {
    const auto copy = [packed] { return take_pieces(*packed); };
    copied = co_await offload(*engine_.host().workers, copy);
  }
  *over = true;
  packed->into.reset();  // who watches looks once more
  if (!copied) sandbox->kill();
  const Result<ExitReport> exit = co_await started->exit->get();
  const std::string said = errors->finish();
  co_await sandbox->destroy();
  if (!copied) co_return tl::unexpected(copied.error());
  // 1: a file changed while it was read, which is none that matters.
  const int status = exit && WIFEXITED(exit->status) ? WEXITSTATUS(exit->status) : 127;
  if (status > 1)
    co_return fail(Code::kUnavailable, "the template's own tar could not pack it: " + printable(said, 300));
  digest = packed->hash.hex();
  co_return packed->size;
}

// Each may be as large as a disk.
Result<std::shared_ptr<Fd>> TemplateExporter::new_archive(const std::string& organization) {
  std::erase_if(archives_, [](const auto& one) { return one.second.expired(); });
  const auto own = std::ranges::count(archives_, organization, [](const auto& one) { return one.first; });
  if (own >= kMostArchives)
    return fail(Code::kExhausted,
                fmt::format("{} exports are under way, or wait to be fetched: fetch one, or wait until it is gone, "
                            "10 minutes after it was packed",
                            own));
  BJ_CHECK(make_directories(directory_, 0700));
  BJ_TRY(Fd file, open_path(directory_, O_RDWR | O_TMPFILE, 0600));
  auto archive = std::make_shared<Fd>(std::move(file));
  archives_.emplace_back(organization, archive);
  return archive;
}

Task<Result<ExportedTemplate>> TemplateExporter::export_archive(std::string organization, ResolvedTemplate from,
                                                                std::string name, ExportProgress progress) {
  BJ_CO_TRY(const std::shared_ptr<Fd> into, new_archive(organization));
  BJ_CO_CHECK(write_all(into->get(), std::string(kBlock, '\0'), "export"));
  std::string digest;
  BJ_CO_TRY(const uint64_t size, co_await pack(from.image, into, digest, std::move(progress)));
  const std::string layer = digest + ".tar";
  const std::string config = config_of(from, digest);
  const std::string config_name = sha256_hex(config) + ".json";
  const std::string manifest = json::serialize(json::array{
      json::object{{"Config", config_name}, {"RepoTags", json::array{name}}, {"Layers", json::array{layer}}}});
  const auto write = [&]() -> Result<uint64_t> {
    const std::string rest = padding(size) + tar_header(config_name, config.size()) + config + padding(config.size()) +
                             tar_header("manifest.json", manifest.size()) + manifest + padding(manifest.size()) +
                             std::string(2 * kBlock, '\0');
    BJ_CHECK(write_all(into->get(), rest, "export"));
    const std::string header = tar_header(layer, size);
    if (::pwrite(into->get(), header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
      return fail_errno("pwrite(export)");
    return kBlock + size + rest.size();
  };
  BJ_CO_TRY(const uint64_t whole, co_await offload(*engine_.host().workers, write));
  co_return ExportedTemplate{into, whole};
}

}  // namespace bj
