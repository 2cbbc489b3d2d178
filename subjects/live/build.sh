#!/bin/sh
# Compile the programs of known allocations, and what judges their profilers.
# usage: subjects/live/build.sh FOLDER
set -eu
out=$1
mkdir -p "$out"
cd "${0%/*}"
out=$OLDPWD/$out
jdk=/usr/lib/jvm/java-17-openjdk-amd64/include
gcc -O1 -g -fno-builtin -fno-pie -no-pie -o "$out/truth" truth.c -pthread
gcc -O2 -g -o "$out/cost" cost.c
g++ -O1 -shared -fPIC -o "$out/libaudit-gperftools.so" gperftools.cc -ltcmalloc
gcc -O1 -shared -fPIC -isystem $jdk -isystem $jdk/linux -o "$out/libaudit-jvm.so" jvm_agent.c
javac -d "$out" Truth.java
GOFLAGS=-trimpath GOCACHE=$out/go go build -o "$out/truth_go" truth.go
cp truth.ml truth.js truth.py "$out"
cd "$out"
ocamlopt -o truth_ml unix.cmxa truth.ml
