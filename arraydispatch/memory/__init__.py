"""State of an array and its place in memory: roots, views, ghosts, writes."""
