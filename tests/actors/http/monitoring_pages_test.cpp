#include "actors/http/monitoring_pages.hpp"

#include "tests/support/catch.hpp"

#include <memory>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("whether a coordinator takes runs", "[monitoring]") {
  CATCH_CHECK(unready(static_cast<const cluster_figures*>(nullptr), {})
              == "the coordinator is starting");
  cluster_figures figures;
  figures.taken = unix_time{50'000};
  CATCH_CHECK(unready(&figures, unix_time{50'000}).empty());
  CATCH_CHECK(unready(&figures, unix_time{60'000}).empty());
  CATCH_CHECK(unready(&figures, unix_time{61'500})
              == "the coordinator has told nothing for 11 s");
  figures.unready = "the coordinator is ending";
  CATCH_CHECK(unready(&figures, unix_time{50'000})
              == "the coordinator is ending");
}

CATCH_TEST_CASE("whether a daemon belongs to a cluster", "[monitoring]") {
  CATCH_CHECK(unready(static_cast<const daemon_figures*>(nullptr), {})
              == "the daemon is starting");
  daemon_figures figures;
  figures.taken = unix_time{50'000};
  CATCH_CHECK(unready(&figures, unix_time{50'000})
              == "the daemon is not registered with the coordinator");
  figures.registered = true;
  CATCH_CHECK(unready(&figures, unix_time{50'000}).empty());
  CATCH_CHECK(unready(&figures, unix_time{70'000})
              == "the daemon has told nothing for 20 s");
}

CATCH_TEST_CASE("pages of a board", "[monitoring]") {
  const auto board = std::make_shared<figures_board>();
  const auto counts = std::make_shared<http_counts>();
  auto pages = monitoring_pages(board, true, counts);
  CATCH_CHECK(pages.size() == 3);
  CATCH_CHECK(pages["/healthz"]({}).status == 200);
  CATCH_CHECK(pages["/readyz"]({}).status == 503);
  CATCH_CHECK(pages["/metrics"]({}).status == 503);
  cluster_figures figures;
  figures.taken = now_unix();
  figures.status.queued = {"r-1"};
  board->leave(figures);
  CATCH_CHECK(pages["/readyz"]({}).status == 200);
  const auto first = pages["/metrics"]({});
  CATCH_CHECK(first.status == 200);
  CATCH_CHECK(first.type == "text/plain; version=0.0.4; charset=utf-8");
  CATCH_CHECK_THAT(*first.body, contains("\ngraphmill_runs_queued 1\n"));
  // The same text for all who ask, until there are other figures.
  ++counts->connections;
  CATCH_CHECK(pages["/metrics"]({}).body == first.body);
  figures.status.queued.clear();
  figures.unready = "the coordinator is ending";
  board->leave(figures);
  const auto next = pages["/metrics"]({});
  CATCH_CHECK_THAT(*next.body, contains("\ngraphmill_runs_queued 0\n"));
  CATCH_CHECK_THAT(*next.body, contains("\ngraphmill_http_connections 1\n"));
  CATCH_CHECK_THAT(*first.body, contains("\ngraphmill_runs_queued 1\n"));
  const auto ready = pages["/readyz"]({});
  CATCH_CHECK(ready.status == 503);
  CATCH_CHECK(*ready.body == "the coordinator is ending\n");
}

CATCH_TEST_CASE("pages of a daemon alone", "[monitoring]") {
  const auto board = std::make_shared<figures_board>();
  board->leave(cluster_figures{});
  auto pages = monitoring_pages(board, false, std::make_shared<http_counts>());
  CATCH_CHECK(pages["/metrics"]({}).status == 503);
  daemon_figures own;
  own.taken = now_unix();
  own.registered = true;
  board->leave(own);
  CATCH_CHECK(pages["/readyz"]({}).status == 200);
  const auto page = pages["/metrics"]({});
  CATCH_CHECK_THAT(*page.body, contains("\ngraphmill_process_registered 1\n"));
  CATCH_CHECK_THAT(*page.body, !contains("graphmill_daemons"));
}
