#include "actors/http/monitoring_pages.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/http/metrics/prometheus_text.hpp"

#include <utility>

namespace graphmill {

namespace {

/// The page of metrics. It is made once of what was left on the board, however
/// many ask for it. Used by the server's thread alone.
class metrics_page {
public:
  metrics_page(std::shared_ptr<const figures_board> board, bool of_cluster,
               std::shared_ptr<const http_counts> counts)
    : board_(std::move(board)), counts_(std::move(counts)),
      of_cluster_(of_cluster) {}

  http_answer make() {
    auto cluster = of_cluster_ ? board_->of_cluster() : nullptr;
    auto own = board_->of_daemon();
    if (!cluster && !own)
      return http_sentence(503, "nothing is known yet");
    if (cluster != cluster_ || own != own_ || !text_) {
      text_ = std::make_shared<const std::string>(
        prometheus_text(cluster.get(), own.get(), *counts_));
      cluster_ = std::move(cluster);
      own_ = std::move(own);
    }
    http_answer out;
    out.type = "text/plain; version=0.0.4; charset=utf-8";
    out.body = text_;
    return out;
  }

private:
  std::shared_ptr<const figures_board> board_;
  std::shared_ptr<const http_counts> counts_;
  bool of_cluster_;
  figures_board::cluster cluster_; ///< That `text_` is of,
  figures_board::daemon own_;      ///< with this.
  std::shared_ptr<const std::string> text_;
};

/// Nothing if it is not that long ago.
std::string silence_of(const char* whom, unix_time since, unix_time now) {
  if (now - since <= timeouts::figures_silence)
    return {};
  return fmt::format(
    "{} has told nothing for {} s", whom,
    std::chrono::duration_cast<std::chrono::seconds>(now - since).count());
}

} // namespace

std::string unready(const cluster_figures* figures, unix_time now) {
  if (figures == nullptr)
    return "the coordinator is starting";
  auto silence = silence_of("the coordinator", figures->taken, now);
  return silence.empty() ? figures->unready : silence;
}

std::string unready(const daemon_figures* figures, unix_time now) {
  if (figures == nullptr)
    return "the daemon is starting";
  auto silence = silence_of("the daemon", figures->taken, now);
  if (silence.empty() && !figures->registered)
    return "the daemon is not registered with the coordinator";
  return silence;
}

std::map<std::string, http_page>
monitoring_pages(std::shared_ptr<const figures_board> board, bool of_cluster,
                 std::shared_ptr<const http_counts> counts) {
  std::map<std::string, http_page> out;
  out["/metrics"] = [page = std::make_shared<metrics_page>(board, of_cluster,
                                                           std::move(counts))](
                      const http_request&) { return page->make(); };
  out["/healthz"] = [](const http_request&) {
    return http_sentence(200, "serving");
  };
  out["/readyz"] = [board = std::move(board), of_cluster](const http_request&) {
    const auto now = now_unix();
    const auto why = of_cluster ? unready(board->of_cluster().get(), now)
                                : unready(board->of_daemon().get(), now);
    return why.empty() ? http_sentence(200, "ready") : http_sentence(503, why);
  };
  return out;
}

} // namespace graphmill
