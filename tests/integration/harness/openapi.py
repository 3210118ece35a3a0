"""What the HTTP admin port promises, docs/reference/openapi.json, and how tests hold it to that."""

import json

import jsonschema

from .router import REPOSITORY


def closed(schema):
    """The same without room for members that are not described."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: closed(each) for name, each in schema.items()}
    if "properties" in schema:
        result.setdefault("additionalProperties", False)
    return result


# As published it has that room: members may come, and a client made from it goes on. Here each that comes has to be described.
PUBLISHED = json.loads((REPOSITORY / "docs/reference/openapi.json").read_text())
SPEC = closed(PUBLISHED)


def check(document, schema, spec=SPEC):
    # References are looked up from the document's root, which the schema is given for that.
    jsonschema.Draft202012Validator({**schema, "components": spec["components"]}).validate(document)
