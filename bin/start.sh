#!/bin/sh
# Runs a script of the server with settings of memory that count only from the start of a process.
#
# The C library keeps an arena for each thread, and takes ever larger blocks from them instead of asking the system for
# pages that can be given back one by one: buffers of large bodies then leave holes that nobody else fits into.
export MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
# With a maximum of 2 GiB or more, V8 lets garbage grow to four times of what is in use before it collects; below that to twice.
exec node --max-old-space-size=2000 "$@"
