#!/bin/bash
# What the official image does, in its order, as far as our compose file uses it: initdb, pg_hba.conf, the server.
set -eu
if [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  install -d -m 0700 -o postgres -g postgres "$PGDATA"
  exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec "$@"
