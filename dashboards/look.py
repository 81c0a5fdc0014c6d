"""`make superset-look`: opens every dashboard of a running Superset in Chromium, keeps a picture of each, and tells what is wrong.

For all clusters, and for each cluster by itself, as the dashboards' filter chooses it.  Wrong are error boxes and charts without
rows that the descriptions do not excuse; and, for all clusters, charts whose rows are not those of `dashboards.queries`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import Page, Response, sync_playwright

from dashboards.bundle import URI, URI_VARIABLE, connect
from dashboards.bundle import rows as asked
from dashboards.described import PROJECT, Chart, Dashboard, load
from dashboards.grains import fitted
from dashboards.queries import sql_of

# Chromium speaks to this machine alone.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--force-color-profile=srgb"]
WIDTH, HEIGHT = 1600, 5200
PATIENCE_MS = 300_000
# Half seconds without anything that loads.
QUIET = 6
BUSY = ".loading, [data-test='loading-indicator'], .ant-spin-spinning"
ERRORS = "[data-test='error-message'], .ant-alert-error, [role='alert'].error"


@dataclass
class Seen:
    """What one view of a dashboard showed: title of chart → its answers."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def chosen(cluster: str | None) -> str:
    """The part of the address that chooses a cluster, as Superset writes it (Rison)."""
    if cluster is None:
        return ""
    name, value = "NATIVE_FILTER-cluster", "'" + cluster.replace("!", "!!").replace("'", "!'") + "'"
    state = f"(__cache:(),extraFormData:(filters:!((col:cluster_id,op:IN,val:!({value})))),filterState:(value:!({value})),id:{name},ownState:())"
    return "?native_filters=" + quote(f"({name}:{state})")


def sign_in(page: Page, base: str, password: str) -> None:
    page.goto(f"{base}/login/")
    page.fill("input[name='username'], input#username", "admin")
    page.fill("input[name='password'], input#password", password)
    page.click("button[type='submit'], input[type='submit']")
    page.wait_for_url("**/superset/welcome/**", timeout=PATIENCE_MS)


def look(page: Page, base: str, board: Dashboard, cluster: str | None, picture: Path) -> Seen:
    """Open a dashboard, wait for its charts, keep a picture."""
    seen = Seen()

    def heard(response: Response) -> None:
        if "/api/v1/chart/data" not in response.url or response.request.method != "POST":
            return
        asked = json.loads(response.request.post_data or "{}")
        title = titles.get((asked.get("form_data") or {}).get("slice_id"))
        if title is None:
            return
        if not response.ok:
            seen.errors.append(f"{title}: {response.text()[:300]}")
            return
        seen.answers[title] = response.json()["result"][0]

    slug = board.name.replace("_", "-")
    charts = page.request.get(f"{base}/api/v1/dashboard/{slug}/charts").json()["result"]
    titles = {chart["id"]: chart["slice_name"] for chart in charts}
    page.on("response", heard)
    page.goto(f"{base}/superset/dashboard/{slug}/{chosen(cluster)}")
    page.wait_for_selector("[data-test='dashboard-content-wrapper'], .dashboard-content", timeout=PATIENCE_MS)
    quiet = 0
    for _ in range(PATIENCE_MS // 500):
        page.wait_for_timeout(500)
        # A filter that chooses for itself asks a second time.
        is_done = len(seen.answers) + len(seen.errors) >= len(board.charts) and page.locator(BUSY).count() == 0
        quiet = quiet + 1 if is_done else 0
        if quiet == QUIET:
            break
    else:
        missing = [chart.title for chart in board.charts if chart.title not in seen.answers]
        seen.errors.append(f"not drawn within {PATIENCE_MS // 1000} s: {', '.join(missing) or 'something'}")
    # Charts are drawn with a movement of half a second.
    page.wait_for_timeout(1500)
    seen.errors += [text[:300] for text in page.locator(ERRORS).all_inner_texts()]
    end = page.evaluate("Math.max(...[...document.querySelectorAll('.grid-row')].map(row => row.getBoundingClientRect().bottom), 600)")
    page.screenshot(path=picture, clip={"x": 0, "y": 0, "width": WIDTH, "height": min(end + 16, HEIGHT)})
    page.remove_listener("response", heard)
    return seen


def differences(cursor: Any, board: Dashboard, seen: Seen) -> Iterator[str]:
    """Charts whose query, as Superset sent it, does not give the rows of the chart's query here."""
    for chart in board.charts:
        if chart.title in seen.answers and not is_chosen_first(board, chart):
            theirs, ours = rows(cursor, seen.answers[chart.title]["query"]), rows(cursor, sql_of(chart))
            if sorted(map(repr, theirs)) != sorted(map(repr, ours)):
                yield f"{chart.title}: Superset's query gives {len(theirs)} rows, that of dashboards.queries {len(ours)}, and they differ"


def is_chosen_first(board: Dashboard, chart: Chart) -> bool:
    return any(one.is_first_chosen and one.reaches(chart) for one in board.filters)


def rows(cursor: Any, sql: str) -> list[tuple[Any, ...]]:
    """Rows with their values in the order of the columns' names."""
    cursor.execute(sql.strip().rstrip(";"))
    names = [column[0].split(".")[-1] for column in cursor.description]
    order = sorted(range(len(names)), key=names.__getitem__)
    # Sums of floating numbers differ in their last digits with the order of their rows.
    return [tuple(float(f"{row[at]:.9g}") if isinstance(row[at], float) else row[at] for at in order) for row in cursor.fetchall()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="look", description=__doc__)
    parser.add_argument("--url", default=f"http://127.0.0.1:{os.environ.get('SUPERSET_PORT', '8088')}", help="of a running Superset")
    parser.add_argument("--out", type=Path, default=PROJECT / ".cache/superset/pictures", help="folder for the pictures")
    parser.add_argument("--board", action="append", help="dashboards to open (all)")
    parser.add_argument("--cluster", action="append", help="clusters to choose (none, then each by itself); `all` for none")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    password = (PROJECT / ".cache/superset/admin_password").read_text().strip()
    if urlsplit(given.url).hostname not in ("127.0.0.1", "localhost"):
        parser.error("--url: the password goes to this machine alone")
    cursor, wrong = connect(os.environ.get(URI_VARIABLE) or URI), []
    described = fitted(load(), lambda query: asked(cursor, query))
    boards = [board for board in described.dashboards if not given.board or board.name in given.board]
    given.out.mkdir(parents=True, exist_ok=True)
    cursor.execute("select distinct cluster_id from marts.dim_clusters order by cluster_id")
    clusters = given.cluster or ["all", *(row[0] for row in cursor.fetchall())]
    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        size = {"width": WIDTH, "height": HEIGHT}
        browser = play.chromium.launch_persistent_context(profile, executable_path=given.chromium, headless=True, args=FLAGS, viewport=size)
        page = browser.new_page()
        sign_in(page, given.url, password)
        for board in boards:
            for cluster in clusters:
                one = None if cluster == "all" else cluster
                seen = look(page, given.url, board, one, given.out / f"{board.name}__{cluster}.png")
                empty = [chart.title for chart in board.charts if not seen.answers.get(chart.title, {}).get("rowcount")]
                excused = {chart.title for chart in board.charts if "empty" in chart.says}
                faults = list(seen.errors)
                if one is None:
                    faults += [f"{title}: empty" for title in empty if title not in excused] + list(differences(cursor, board, seen))
                wrong += [f"{board.name}, {cluster}: {fault}" for fault in faults]
                said = f"; empty: {', '.join(empty)}" if empty else ""
                print(f"{board.name}, {cluster}: {len(seen.answers)} of {len(board.charts)} charts{said}", flush=True)
        browser.close()
    for fault in wrong:
        print(f"look: {fault}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
