"""Which history a store has, and back-ups of it: made while it is in use, restored all or nothing.

history             a mark for each write: what was derived of another history is made again
snapshot_manifest   what a back-up holds, as JSON; which one is meant by a time
chunk_store         pieces of files by the hash of their content, so that equal ones are one
backing_up          both databases at one moment → chunks → a manifest, once all is verified
restoring           a manifest → a directory beside the target → in its place
dumping             what a tenant holds, record by record
"""
