#!/bin/sh
# Runs a script of the server with memory settings that only take effect when a process starts.
#
# By default the C library keeps an arena for each thread and, over time, takes ever larger blocks from it instead of from
# the system. The buffers of large bodies then leave holes in the arenas that cannot be given back.
export MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
# With a maximum of 2 GiB or more, V8 collects when the heap is four times what was in use; below that, when it is twice.
exec node --max-old-space-size=2000 "$@"
