"""Azure's storage on this machine: Azurite, Microsoft's own emulator, in a process of its own (`npm install --global azurite`)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from tests.ports import free_port, wait_for

PROGRAM = "azurite-blob"
# The account that every Azurite has; Microsoft documents its key.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def is_there() -> bool:
    """Whether Azurite and adlfs, fsspec's file system for Azure, are installed."""
    return shutil.which(PROGRAM) is not None and importlib.util.find_spec("adlfs") is not None


@contextmanager
def azurite(folder: Path) -> Iterator[None]:
    """Starts the server with its objects in a folder, and puts address and credentials into the environment, as adlfs and delta-rs read them."""
    port = free_port()
    said = folder / "said.txt"
    folder.mkdir(parents=True, exist_ok=True)
    # adlfs asks for a newer form of the protocol than some releases of Azurite know.
    command = [
        PROGRAM,
        "--location",
        str(folder),
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        str(port),
        "--skipApiVersionCheck",
        "--disableTelemetry",
    ]
    with said.open("w") as log:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_for(port, running, said.read_text)
        with mock.patch.dict(os.environ, environment(f"http://127.0.0.1:{port}")):
            yield
    finally:
        running.kill()
        running.wait()


def environment(address: str) -> dict[str, str]:
    return {
        "AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={address}/{ACCOUNT};",
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": address,
    }
