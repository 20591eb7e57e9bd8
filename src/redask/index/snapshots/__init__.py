"""Snapshots of index partitions in a directory or an object store: where a new node starts from."""
