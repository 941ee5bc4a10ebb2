"""Holds answers of a server against its OpenAPI document. Each argument is a file with a document, answers and
transitions. Whatever the document does not speak of is wrong, too: objects are closed before anything is compared."""

import json
import re
import sys

from jsonschema import Draft202012Validator


def closed(schema):
    if isinstance(schema, list):
        return [closed(held) for held in schema]
    if not isinstance(schema, dict):
        return schema
    held = {name: closed(inner) for name, inner in schema.items()}
    if isinstance(held.get("properties"), dict) and held.get("type") == "object":
        held.setdefault("additionalProperties", False)
    return held


def template(path):
    parts = [re.escape(part) if not part.startswith("{") else "[^/]+" for part in path.split("/")]
    return re.compile("/".join(parts) + "$")


def main(files):
    wrong = 0
    for file in files:
        with open(file) as text:
            held = json.load(text)
        document = closed(held["document"])
        validators = {}

        def validate(schema, value, what):
            name = json.dumps(schema)
            if name not in validators:
                root = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": document["components"]}
                validators[name] = Draft202012Validator({**root, **schema})
            error = next(iter(sorted(validators[name].iter_errors(value), key=lambda e: -len(e.path))), None)
            if error is None:
                return 0
            deepest = error
            while deepest.context:
                deepest = max(deepest.context, key=lambda e: len(e.absolute_path))
            print(f"WRONG {file}: {what}: at {list(deepest.absolute_path)}: {deepest.message[:400]}")
            return 1

        paths = [(template(path), path) for path in document["paths"]]
        checked = 0
        for said in held["said"]:
            found = [path for pattern, path in paths if pattern.match(said["path"])]
            # a path without anything left open goes before one that has
            found.sort(key=lambda path: path.count("{"))
            what = f"{said['method']} {said['path']} {said['status']}"
            if not found:
                print(f"WRONG {file}: {what}: not in the document")
                wrong += 1
                continue
            operation = document["paths"][found[0]][said["method"].lower()]
            response = operation["responses"].get(str(said["status"]))
            if response is None:
                print(f"WRONG {file}: {what}: the status is not in the document")
                wrong += 1
                continue
            if "$ref" in response:
                response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
            media = next(iter(response["content"].values()))
            # a problem that many requests share is not closed: it may say more
            if said["status"] in (200, 409):
                wrong += validate(media["schema"], said["body"], what)
                checked += 1
        name = next(iter(document["tags"]))["name"]
        transition = {"$ref": f"#/components/schemas/{name}.transition"}
        for told in held["transitions"]:
            wrong += validate(transition, told, "a transition")
        print(f"{file.split('/')[-2]}: {checked} answers, {len(held['transitions'])} transitions")
    sys.exit(1 if wrong else 0)


main(sys.argv[1:])
