#!/bin/sh
# Runs a script of the server with settings of the C library that only take effect when a process starts. Those of V8 are in
# src/garbage.ts.
#
# By default the C library keeps an arena for each thread and, over time, takes ever larger blocks from it instead of from
# the system. The buffers of large bodies then leave holes in the arenas that cannot be given back.
export MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
exec node "$@"
