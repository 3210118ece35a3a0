#!/bin/bash
# Fetches a source package of a Debian suite, from where this machine's apt gets its packages.
#
# usage: debian_source.sh SUITE PACKAGE FOLDER      the package's files are then in FOLDER
#
# Lists and cache of our own, beside them: the machine's sources stay as they are.
set -euo pipefail

usage="usage: debian_source.sh SUITE PACKAGE FOLDER"
suite=${1:?$usage} package=${2:?$usage} folder=${3:?$usage}
archive=$("$(dirname "$0")/debian_archive.sh")
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
cd "$folder"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" >apt/sources.list
options=(-o "Dir::Etc::SourceList=$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$PWD/apt/lists"
  -o "Dir::Cache=$PWD/apt/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root)
apt-get "${options[@]}" update -qq
apt-get "${options[@]}" source -qq --download-only "$package"
