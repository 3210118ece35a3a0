#!/usr/bin/env bash
# Makes the passwords of a throw-away set-up, once: a file that is there stays.      credentials.sh FOLDER
# They can be read by every user in the containers that mount the folder, whose user numbers have nothing in common.
set -euo pipefail
folder=$1
for name in postgres replicator sluice_auth sluice_monitor app ops grafana; do
  file=$folder/$name.password
  [ ! -s "$file" ] || continue
  # 24 letters and digits: nothing that SQL, a URL or a password file would read in another way.
  password=$(head -c 512 /dev/urandom | base64 -w0 | tr -dc 'A-Za-z0-9' | cut -c1-24)
  [ ${#password} -eq 24 ]
  printf '%s\n' "$password" >"$file.new"
  chmod 444 "$file.new"
  mv "$file.new" "$file"
done
chmod 755 "$folder"
