#!/bin/sh
# usage: env ROOT= PREFIX= NODE= PROJECT= MODULES= OUT= enter.sh COMMAND…
# Runs a command beside Wine, with its own mounts and processes, which end with it and with who runs it:
#   /prefix   what Wine keeps; `C:` lies in it     /project  the repository, not writable, with MODULES as node_modules
#   /out      for output: Wine cannot use the pipes of a Unix parent
# Needs the rights of root, or a system on which others may make user namespaces.
set -eu
user=''
[ "$(id -u)" = 0 ] || user=--map-root-user
exec setpriv --pdeathsig KILL unshare $user --mount --pid --fork --kill-child --propagation private sh -eu -c '
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
mount --rbind /sys "$ROOT/sys"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount --bind /etc/hosts "$ROOT/etc/hosts"
mount --bind "$PREFIX" "$ROOT/prefix"
mount --bind "$OUT" "$ROOT/out"
mount --bind "$PROJECT" "$ROOT/project"
[ -n "${WRITABLE:-}" ] || mount -o remount,bind,ro "$ROOT/project"
if [ -n "${MODULES:-}" ]; then
  mount --bind "$MODULES" "$ROOT/project/node_modules"
  mount -o remount,bind,ro "$ROOT/project/node_modules"
fi
nodejs="$ROOT/prefix/wine/drive_c/Program Files/nodejs"
if [ -d "$nodejs" ]; then mount --bind "$NODE" "$nodejs"; fi
exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/bin:/usr/lib/wine HOME=/prefix/home XDG_RUNTIME_DIR=/prefix/home \
  WINEPREFIX=/prefix/wine WINEDEBUG=-all WINEARCH=win64 WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe=d" \
  LANG=C.UTF-8 NO_COLOR=1 "$@"
' enter "$@"
