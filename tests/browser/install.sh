#!/usr/bin/env bash
# Installs Chromium and its driver, Debian's packages, where they are missing. `make test-all` runs it.
# Where that cannot be done it says so and succeeds: the tests that need a browser are skipped then.
set -u
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0

root=()
[ "$(id -u)" = 0 ] || root=(sudo -n)
install() {
  command -v apt-get >/dev/null || { echo "there is no apt-get here"; return 1; }
  "${root[@]}" apt-get update --quiet --quiet || return 1
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes \
    --no-install-recommends chromium chromium-driver fonts-dejavu-core >/dev/null
}
install || echo "Chromium could not be installed, so tests in the browser will be skipped:" \
  "install the packages chromium and chromium-driver to run them"
exit 0
