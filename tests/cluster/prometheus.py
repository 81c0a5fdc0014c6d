"""A real Prometheus on this machine, from Debian's package, which scrapes this process."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from tests.ports import free_port, wait_for

CONFIGURATION = """\
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: kafka
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def is_there() -> bool:
    """Whether the package is installed: `apt-get install prometheus`."""
    return bool(shutil.which("prometheus") and shutil.which("promtool"))


class Exporter(BaseHTTPRequestHandler):
    """A metric for each broker that counts the scrapes."""

    asked: ClassVar[int] = 0

    def do_GET(self) -> None:
        Exporter.asked += 1
        text = "# TYPE kafka_server_replicamanager_leadercount gauge\n"
        text += "".join(f'kafka_server_replicamanager_leadercount{{broker_id="{node}"}} {Exporter.asked + node}\n' for node in (1, 2))
        text += "# TYPE go_goroutines gauge\ngo_goroutines 3\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def exporter() -> Iterator[int]:
    """A server of metrics; gives its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Exporter) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_port
        serving.shutdown()


def backfilled(folder: Path, openmetrics: str) -> None:
    """Put a history into the folder of a Prometheus that does not run."""
    text = folder.with_suffix(".openmetrics")
    text.write_text(openmetrics)
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(folder)], check=True, capture_output=True)
    # Without it `promtool tsdb dump` reads nothing.
    (folder / "wal").mkdir()


def dumped(folder: Path) -> str:
    """promtool's dump of the folder of a Prometheus that does not run."""
    return subprocess.run(["promtool", "tsdb", "dump", str(folder)], check=True, capture_output=True, text=True).stdout


@contextmanager
def prometheus(folder: Path, scraped: int) -> Iterator[str]:
    """Starts Prometheus with its samples in a folder; gives HOST:PORT.  `scraped`: the port of the exporter."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder.with_suffix(".yml")
    file.write_text(CONFIGURATION.format(port=scraped))
    command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}", f"--web.listen-address=127.0.0.1:{port}"]
    with folder.with_suffix(".txt").open("w") as said:
        running = subprocess.Popen([*command, "--storage.tsdb.retention.time=100y"], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        wait_for(port, running, folder.with_suffix(".txt").read_text)
        yield f"127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()
