"""Settings of all tests: JAX on the CPU, compiled programs kept, shapes checked at every call."""

import os
import shutil
import signal
from pathlib import Path

# These must be set before jax is first imported. A value from outside wins, for instance to run
# the tests on a GPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Annotations of shapes and types are checked while the tests run, and only then.
install_import_hook("algotransfer", "typechecking.typechecker")

# The default profile draws the same few examples each time: quick, and a failure is repeatable.
# HYPOTHESIS_PROFILE=thorough draws many new ones. Compiling takes what time it takes: no deadline.
COMPILING = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=20, derandomize=True, **COMPILING)
settings.register_profile("thorough", max_examples=300, print_blob=True, **COMPILING)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


MAX_CACHE_BYTES = 2 * 2**30


def pytest_configure():
    """Keep compiled programs between runs, since most of the time of the tests is compiling.

    JAX names a program by its content, its options and its version, so a changed one is compiled
    again. Processes that tests start use the same folder; `make clean` deletes it.
    """
    import jax

    from algotransfer.compilation_cache import SWITCH, cache_folder, processor_hash

    if SWITCH not in os.environ:  # the first process; workers inherit it
        cache = Path(__file__).parents[1] / ".pytest_cache" / f"compiled-{processor_hash()}"
        if sum(path.stat().st_size for path in cache.glob("*-cache")) > MAX_CACHE_BYTES:
            shutil.rmtree(cache, ignore_errors=True)
        os.environ[SWITCH] = str(cache)
    if (folder := cache_folder()) is not None:
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)


# Files and folders whose tests are all slow; single tests carry the marker themselves.
SLOW = (
    "bad_input",
    "bench",
    "benchmarks",
    "browser",
    "explorer/test_browser.py",
    "explorer/test_display.py",
    "explorer/test_editing.py",
    "explorer/test_engine.py",
    "explorer/test_gestures.py",
    "explorer/test_live_page.py",
    "faults",
    "networks/test_edge_kernel.py",
    "report/test_report_page.py",
    "reproduce/test_processes.py",
    "reproduce/test_ray.py",
    "studies",
    "test_readme.py",
    "test_wheel.py",
)


def pytest_collection_modifyitems(items):
    """Mark slow tests, and start with files that have some, so that none is left for the end."""
    tests = Path(__file__).parent
    for item in items:
        if any(item.path.is_relative_to(tests / name) for name in SLOW):
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def default_signals():
    """Ctrl-C and a request to end do what they do by default.

    A shell in the background has Ctrl-C ignored, and Ray, in another test, leaves its own handler.
    """
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def quick_to_compile():
    """Compile two to three times as fast, to programs that run slower.

    For files whose tests compile much, compute little, and do not depend on the optimisation of
    programs. Their programs are dropped afterwards. `make test` compiles all tests this way.
    """
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
    jax.clear_caches()


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of pages."""
    from browser.chromium import start_or_skip

    browser = start_or_skip()
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium):
    """Any word on the console fails the test that made the page say it."""
    chromium.dark(False)
    chromium.complaints()
    yield chromium
    assert chromium.complaints() == []
