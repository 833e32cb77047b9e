#!/bin/sh
# Runs a script of the server with memory settings that only take effect when a process starts.
#
# By default the C library keeps an arena for each thread and, over time, takes ever larger blocks from it instead of from
# the system. The buffers of large bodies then leave holes in the arenas that cannot be given back.
export MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
# By default V8 lets a heap grow to several times what is in use before it collects garbage. With 30 % the server needs
# 50 MB less while it is attacked; its speed stays the same within what can be measured.
# Threads that have taken in a very large body ask for a collection.
exec node --max-old-space-size=2000 --heap-growing-percent=30 --expose-gc "$@"
