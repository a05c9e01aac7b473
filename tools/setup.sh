#!/usr/bin/env bash
# Installs what is missing for the groups named: tools/setup.sh build test demo
#
# Does nothing, in well under a second, where everything is there. Debian packages need root or
# sudo; the Python packages of the tests go to build/venv.
set -euo pipefail
cd "$(dirname "$0")/.."

packages() {
    case $1 in
        build) echo g++ cmake ninja-build libdnnl-dev nlohmann-json3-dev libxxhash-dev libcli11-dev libzip-dev zlib1g-dev \
            libvulkan1 python3 python3-pip ca-certificates ;;
        test) echo doctest-dev clang clang-format-14 python3-venv mesa-vulkan-drivers ;;
        demo) echo dataset-fashion-mnist ;;
        *) echo "setup.sh: there is no group \"$1\"; there are build, test and demo." >&2; return 1 ;;
    esac
}

wanted=()
for group in "$@"; do
    list=$(packages "$group")
    read -ra names <<<"$list"
    wanted+=("${names[@]}")
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    # Another system: what is missing is found out, and said, by the build itself.
    echo "setup.sh: no apt here, so nothing is installed. Needed, by their names in Debian: ${wanted[*]}" >&2
else
    installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "${wanted[@]}" 2>/dev/null || true) "
    missing=()
    for name in "${wanted[@]}"; do
        [[ $installed == *" $name:installed "* ]] || missing+=("$name")
    done
    if ((${#missing[@]})); then
        as_root=()
        if [[ $(id -u) != 0 ]]; then
            if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
                as_root=(sudo)
            else
                echo "setup.sh: these packages are missing, and installing them needs root: ${missing[*]}" >&2
                echo "Run as root: apt-get install --no-install-recommends ${missing[*]}" >&2
                exit 1
            fi
        fi
        echo "Installing ${missing[*]}"
        quiet=(-qq -o Dpkg::Use-Pty=0)
        apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" "$@" </dev/null; }
        # A source that does not answer is no obstacle while the others have the packages.
        apt update || echo "setup.sh: apt-get update had errors; going on with the lists there are." >&2
        log=$(mktemp)
        if ! apt install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
            tail -n 20 "$log" >&2
            echo "setup.sh: apt-get could not install: ${missing[*]} (all it said: $log)" >&2
            exit 1
        fi
        rm -f "$log"
    fi
fi

if [[ " $* " == *" test "* ]] && ! cmp -s tools/requirements.txt build/venv/requirements.txt; then
    echo "Making build/venv for the tests"
    rm -rf build/venv
    python3 -m venv build/venv
    build/venv/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary :all: -r tools/requirements.txt
    cp tools/requirements.txt build/venv/requirements.txt
fi
