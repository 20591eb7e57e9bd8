"""Requests that work on the sample data of `redask demo`: `EXAMPLES` of the OpenAPI document.

By operation, or by operation and parameter.
"""

from typing import Any

EXAMPLES: dict[str, Any] = {
    "ask": {
        "question": "When does a gold customer get money back for a late delivery?",
        "options": {"limit": 5, "strict": True},
    },
    "createChatCompletion": {
        "model": "redask",
        "messages": [
            {
                "role": "user",
                "content": "When does a gold customer get money back for a late delivery?",
            }
        ],
    },
    "getModel.model": "redask",
    "explain": {"question": "How many customers are gold customers?"},
    "search": {"question": "late delivery", "options": {"limit": 3}},
    "query": {"statement": "SELECT name FROM suppliers WHERE id = $1", "params": [2]},
    "select": {"statement": "SELECT name FROM suppliers WHERE id = $1", "params": [2]},
    "ingestFile": {
        "name": "ferry.md",
        "content": "IyBGZXJyeQoKVGhlIGZlcnJ5IGxlYXZlcyBhdCBuaW5lLgo=",
        "collection": "notices",
    },
    "setPolicy": {"policy": {"read": [{"roles": ["*"], "rows": "country <> 'Peru'"}]}},
    "setPolicy.collection": "suppliers",
    "previewPolicy": {
        "policy": {"read": [{"roles": ["sales"], "hide": ["name"]}]},
        "role": "sales",
    },
    "previewPolicy.collection": "suppliers",
    "putEntities": {"rows": [{"id": 1, "text": "The ferry leaves at nine."}]},
    "putEntities.collection": "notes",
    "getSource.urn": "urn:reddb:row:suppliers/2",
}
