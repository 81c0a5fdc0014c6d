"""A coverage-guided run over all code that reads foreign bytes: `make fuzz` (ten minutes), `make fuzz FUZZ_SECONDS=60`.

Each target gets its share of the time in a process of its own; inputs that it finds interesting are kept in `.cache/fuzz/<target>`, from which
the next run starts together with the fixtures.  A text that fails is left in `.cache/fuzz/failed` with the command that repeats it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

KEPT = Path(".cache/fuzz")
FAILED = KEPT / "failed"


def one(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process, with libFuzzer's arguments."""
    import atheris

    with atheris.instrument_imports(include=["ingestion"]):
        from tests.fuzz.targets import TARGETS
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name])
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", help="one target, with libFuzzer's own arguments behind it")
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    given, rest = parser.parse_known_args()
    if given.target:
        one(given.target, rest)
        return 0
    from tests.fuzz.targets import TARGETS, seeds

    FAILED.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in TARGETS:
        corpus = KEPT / name.replace(":", "-")
        corpus.mkdir(exist_ok=True)
        for number, text in enumerate(seeds(name)):
            (corpus / f"seed-{number}").write_bytes(text)
        limits = [f"-max_total_time={max(1, given.seconds // len(TARGETS))}", "-timeout=10", "-rss_limit_mb=4096", "-max_len=16384"]
        command = [sys.executable, "-m", "tests.fuzz.run", name, *limits, "-verbosity=0", f"-artifact_prefix={FAILED}/{corpus.name}-"]
        done = subprocess.run([*command, str(corpus)], capture_output=True, text=True, check=False)
        print(f"{name}: {'failed' if done.returncode else 'nothing found'}, {len(list(corpus.iterdir()))} texts kept", flush=True)
        if done.returncode:
            failed.append(name)
            print("\n".join((done.stdout + done.stderr).splitlines()[-15:]))
            print(f"repeat it: {' '.join(command[:4])} {FAILED}/{corpus.name}-*")
    print(f"{len(TARGETS)} targets, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
