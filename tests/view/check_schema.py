#!/usr/bin/env python3
"""Holds JSON files against a schema.

usage: check_schema.py SCHEMA FILE...

Ends with status 1 if one does not fit, and with 77 if the package jsonschema is not installed.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def read(path):
    return json.load(open(path, encoding="utf-8"))


schema = read(sys.argv[1])
jsonschema.Draft7Validator.check_schema(schema)
failed = 0
for path in sys.argv[2:]:
    for error in jsonschema.Draft7Validator(schema).iter_errors(read(path)):
        print(f"{path}: {list(error.absolute_path)}: {error.message[:200]}")
        failed = 1
sys.exit(failed)
