"""`make pictures`: draws the pictures of README and docs again.

The report comes from the example's warehouse (`make run`), without a JVM.  The dashboards come from a running Superset (`make superset`) on the
server of the same warehouse, by way of `dashboards.look`.
Nothing is drawn by hand: what is missing here (Chromium, Superset) is named, and its pictures stay as they are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from chronicle.project import PROJECT
from docs.outputs import EXAMPLE

PICTURES = Path(__file__).parent
CLUSTER = EXAMPLE
REPORT_SIZE = (1280, 1500)
# Dashboard → height at which a row of its charts ends.
BOARDS = {"elections": 1433, "incident": 1276}
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb")


def browser() -> str | None:
    """Chromium, or what goes by its other names; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def command(chromium: str, page: Path, picture: Path, size: tuple[int, int]) -> list[str]:
    """The call that draws the top of a page."""
    return [chromium, *FLAGS, f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}", page.resolve().as_uri()]


def without_place(page: str, warehouse: Path) -> str:
    """A report that names the warehouse as the documentation does, not by its place on this machine."""
    return page.replace(str(warehouse.resolve()), "./warehouse")


def draw_report(chromium: str, warehouse: Path, cluster: str, picture: Path) -> None:
    """The report of a cluster, from its top."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        given = ["-m", "chronicle", "report", "--cluster", cluster, "--warehouse", str(warehouse.resolve()), "--out", str(page)]
        subprocess.run([sys.executable, *given], check=True, cwd=PROJECT)
        page.write_text(without_place(page.read_text(encoding="utf-8"), warehouse), encoding="utf-8")
        subprocess.run(command(chromium, page, picture, REPORT_SIZE), check=True, capture_output=True)


def answers(url: str) -> bool:
    """Whether a Superset is there."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


def draw_boards(chromium: str, url: str) -> None:
    """The top of each dashboard, with one cluster chosen."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        for board, height in BOARDS.items():
            look = [str(PROJECT / ".venv-superset/bin/python"), "-m", "dashboards.look", "--url", url, "--chromium", chromium]
            subprocess.run([*look, "--board", board, "--cluster", CLUSTER, "--out", folder], check=True, cwd=PROJECT)
            with Image.open(Path(folder, f"{board}__{CLUSTER}.png")) as whole:
                top = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, height)))
                top.quantize(256).save(PICTURES / f"{board}.png", optimize=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make pictures", description=__doc__)
    parser.add_argument("warehouse", type=Path, help="warehouse of the example: warehouse after `make run`")
    parser.add_argument("--url", default=f"http://127.0.0.1:{os.environ.get('SUPERSET_PORT', '8088')}", help="of a running Superset")
    given = parser.parse_args()
    chromium = browser()
    if chromium is None:
        print(f"pictures: no browser; install one of {', '.join(NAMES)}", file=sys.stderr)
        return 1
    draw_report(chromium, given.warehouse, CLUSTER, PICTURES / "report.png")
    if answers(given.url):
        draw_boards(chromium, given.url)
    else:
        print(f"pictures: no Superset at {given.url}; the dashboards' pictures stay as they are", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
