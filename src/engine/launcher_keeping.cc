// The part of the launcher's client that keeps descriptors beyond this process.
#include <fcntl.h>

#include <cstring>

#include "base/within.h"
#include "engine/launcher_client.h"
#include "sys/duplicate.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestNote = 16u << 20;
constexpr auto kListTime = std::chrono::seconds(60);

// The keeper's copy shares its place with ours, and with that of the one who wrote it.
std::string read_all_at_start(const Fd& file) {
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return read_all(file.get(), kLongestNote, "note").value_or("");
}

}  // namespace

void LauncherClient::keep(const std::string& key, const KeepRequest& request) {
  if (!keeps_) return;
  launch::Keep keep{};
  keep.deadline_us = request.deadline_us;
  keep.is_life = request.is_life ? 1 : 0;
  std::vector<Fd> descriptors;
  if (!request.note.empty()) {
    Result<Fd> note = anonymous_file("note", request.note);
    if (!note) return;
    keep.has_note = 1;
    descriptors.push_back(std::move(*note));
  }
  for (const int fd : request.descriptors) {
    Result<Fd> copy = duplicate(fd);
    if (!copy) return;
    descriptors.push_back(std::move(*copy));
  }
  tell(launch::Kind::kKeep, key, keep, std::move(descriptors));
}

void LauncherClient::move_deadline(const std::string& key, int64_t deadline_us) {
  launch::Keep keep{};
  keep.deadline_us = deadline_us;
  if (keeps_) tell(launch::Kind::kDeadline, key, keep, {});
}

void LauncherClient::forget(const std::string& key) {
  if (keeps_) tell(launch::Kind::kForget, key, {}, {});
}

void LauncherClient::tell(launch::Kind kind, const std::string& key, launch::Keep keep, std::vector<Fd> descriptors) {
  keep.header = {next_id(), kind};
  socket_->post(std::string(reinterpret_cast<const char*>(&keep), sizeof keep) + key, std::move(descriptors));
}

Task<Result<std::vector<KeptThing>>> LauncherClient::list() {
  if (!keeps_) co_return std::vector<KeptThing>();
  const launch::Header header{next_id(), launch::Kind::kList};
  const auto done = std::make_shared<OneShot<int>>(executor_);
  listing_ = Listing{header.id, {}, done};
  BJ_CO_CHECK(socket_->send({reinterpret_cast<const char*>(&header), sizeof header}));
  BJ_CO_CHECK(co_await get_within(done, kListTime));
  std::vector<KeptThing> things = std::move(listing_->things);
  listing_.reset();
  co_return things;
}

void LauncherClient::on_listed(std::string_view bytes, std::vector<Fd> descriptors) {
  launch::Answer answer{};
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (bytes.size() == sizeof answer) return listing_->done->set(0);
  KeptThing thing;
  thing.key = bytes.substr(sizeof answer);
  if (answer.value != 0 && !descriptors.empty()) {
    const Fd note = std::move(descriptors.front());
    descriptors.erase(descriptors.begin());
    thing.note = read_all_at_start(note);
  }
  thing.descriptors = std::move(descriptors);
  listing_->things.push_back(std::move(thing));
}

}  // namespace bj
