"""Directives of reStructuredText by what becomes of them: code, a note, a version, nothing."""

CODE_BLOCKS = {"code-block", "code", "sourcecode", "parsed-literal", "doctest", "prompt", "console"}
CODE_BLOCKS |= {
    "ipython",
    "highlight-block",
    "code-tab",
    "testcode",
    "testoutput",
    "math",
    "graphviz",
    "mermaid",
}
DROPPED = set("image contents sectnum include raw highlight index meta default-role role".split())
DROPPED |= set("toctree literalinclude tabularcolumns only-image automodule autoclass".split())
SAID = {
    name: name.capitalize()
    for name in "note warning tip important caution danger attention error hint seealso".split()
} | {"seealso": "See also", "todo": "To do"}
VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since",
}
TABS = {"tab", "tab-item", "group-tab"}
