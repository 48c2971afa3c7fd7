"""A headless Chromium for tests: opens pages, presses keys, and remembers what went wrong."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "hide-scrollbars")


class Browser:
    """Chromium with the few words that the tests use."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in FLAGS:
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))

    def open(self, path: Path, anchor: str = "", size: Sequence[int] = (1280, 800)) -> None:
        """Loads a file anew, in a window of that size."""
        metrics = {"deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], **metrics)
        self.driver.get("about:blank")
        self.driver.get(path.resolve().as_uri() + anchor)

    def command(self, name: str, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def dark(self, dark: bool) -> None:
        value = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def press(self, *keys: str) -> None:
        """Presses keys wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def js(self, expression: str):
        return self.driver.execute_script(f"return {expression}")

    def wait(self, expression: str, seconds: float = 20) -> None:
        """Waits until an expression is true."""
        WebDriverWait(self.driver, seconds, 0.05).until(lambda _: self.js(expression))

    def complaints(self) -> list[str]:
        """What the console has said since the last question."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


def start_or_skip() -> Browser:
    """A browser, or a skipped test; where the tests are the judge (CI), a failed one."""
    if shutil.which("chromium") and shutil.which("chromedriver"):
        return Browser()
    reason = "Chromium is not installed: `bash tests/browser/install.sh` does it, as root on Debian"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
