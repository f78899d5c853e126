"""Which results share memory with which arguments: the table, what finds it out, and the script that does so under the launcher."""
