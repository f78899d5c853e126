"""State of arrays and their memory: roots, views, ghosts, writes."""
