#!/bin/sh
# The attacks against the release build: selftest.sh BELLJAR DATA_DIRECTORY. 77: no sandbox can be made here.
if [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user true 2>/dev/null; then
  echo "SKIPPED: not root, and unprivileged user namespaces are not allowed"
  exit 77
fi
exec "$1" --data "$2" selftest
