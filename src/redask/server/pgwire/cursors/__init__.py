"""Cursors of SQL: DECLARE, FETCH, MOVE and CLOSE over results that are kept."""
