#include "api/native/output_events.h"

#include <array>
#include <boost/json/serialize.hpp>

#include "api/native/sandbox_json.h"
#include "base/character_cutter.h"

namespace bj::native {
namespace {

namespace json = boost::json;

const char* name_of(OutputStream stream) {
  switch (stream) {
    case OutputStream::kOutput: return "stdout";
    case OutputStream::kError: return "stderr";
    case OutputStream::kTerminal: break;
  }
  return "terminal";
}

Task<bool> send_piece(EventStream& events, OutputStream stream, uint64_t offset, std::string text) {
  if (text.empty()) co_return true;
  const json::object data{{"offset", offset}, {"text", std::move(text)}};
  co_return co_await events.send(name_of(stream), json::serialize(data));
}

}  // namespace

Task<void> send_output(std::shared_ptr<LiveProcess> process, uint64_t from, EventStream& events) {
  LiveProcess::Listener listener(process, from);
  const ClientWatch watch(
      co_await asio::this_coro::executor, [&events] { return events.gone(); }, [&listener] { listener.stop(); });
  (void)co_await events.send("start", json::serialize(json::object{{"pid", process->pid()}}));
  std::array<CharacterCutter, 3> cutters;
  uint64_t place = listener.place();
  while (const std::optional<OutputPiece> piece = co_await listener.next()) {
    if (piece->offset > place)
      (void)co_await events.send("gap", json::serialize(json::object{{"dropped", piece->offset - place}}));
    place = piece->offset + piece->bytes.size();
    std::string text = cutters[static_cast<size_t>(piece->stream)].feed(piece->bytes);
    if (!co_await send_piece(events, piece->stream, piece->offset, std::move(text))) co_return;
  }
  for (const OutputStream stream : {OutputStream::kOutput, OutputStream::kError, OutputStream::kTerminal})
    (void)co_await send_piece(events, stream, place, cutters[static_cast<size_t>(stream)].rest());
  if (!process->over()) co_return;
  (void)co_await events.send("end", json::serialize(end_json(CommandRunner::result_of(*process))));
}

}  // namespace bj::native
