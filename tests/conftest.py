"""What tests of pages share: Chromium, driven by Playwright. They are skipped where either is missing."""

import os
import shutil

import pytest


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
