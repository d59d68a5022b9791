// How what a live sandbox has written becomes a layer.
#include "engine/layers/layer_store.h"
#include "engine/sandbox.h"

namespace bj {

Task<Result<Layer>> Sandbox::seal_layer(const LayerStore& layers, AfterSeal then, LayerLimits limits) {
  const auto self = shared_from_this();
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the caller's need not live so long
  const LayerStore store = layers;
  BJ_CO_TRY(const UpperFiles files, upper());
  if (moved_) co_return fail(Code::kBusy, "the sandbox's files are being copied already");
  if (!co_await host_.copies->enter()) co_return fail(Code::kUnavailable, "cancelled");
  const HeldTurn turn(*host_.copies);
  if (moved_) co_return fail(Code::kBusy, "the sandbox's files are being copied already");
  const bool was_paused = paused();
  if (!was_paused) {
    BJ_CO_CHECK(group_.freeze());
    stand_still();
    warden_->set_stillness(WardenClient::Stillness::kForAWhile);
  }
  moved_ = std::make_shared<std::atomic<bool>>(false);
  const auto copy = [store, files, limits, moved = moved_] { return store.capture(files, limits, moved.get()); };
  Result<Layer> layer = co_await offload(*host_.movers, copy);
  const bool moved = *moved_;
  moved_.reset();
  const bool stays = was_paused || pause_asked_ || (layer && then == AfterSeal::kStandStill);
  if (!moved && !stays) BJ_CO_CHECK(resume());
  if (!moved && stays) warden_->set_stillness(WardenClient::Stillness::kPaused);
  if (!moved) co_return layer;
  if (layer) {
    const std::string id = layer->id;
    layer->hold.reset();
    const auto remove = [store, id] { return store.remove(id); };
    (void)co_await offload(*host_.movers, remove);
  }
  co_return fail(Code::kConflict, "the sandbox moved on before its files were copied");
}

}  // namespace bj
