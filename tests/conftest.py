"""What all tests share: a cache of the programs that JAX compiles; Chromium for tests of pages, driven by Playwright.

Tests in a browser are skipped where either is missing.
"""

import os
import shutil
from pathlib import Path

import pytest

# A program of JAX takes seconds to compile: it is compiled once for all processes of a run, and of the next runs.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache/jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.fixture(scope="module")
def browser():
    chromium = os.environ.get("TWOSAMPLE_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if chromium is None:
        pytest.skip("there is no Chromium; apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright; pip install playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
