#!/usr/bin/env python3
"""Check that a manifest is an Indexed Job, and print its container's command for
a shell. The schema has the fields of batch/v1 that the Job uses, and no others.

usage: cluster/check_manifest.py FILE
"""
import shlex
import sys

import jsonschema
import yaml

TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}


def fields(required, **more):
    """An object with these fields and no others."""
    return {"type": "object", "properties": {**required, **more},
            "required": list(required), "additionalProperties": False}


CONTAINER = fields(
    {"name": TEXT, "image": TEXT, "command": {"type": "array", "items": TEXT}},
    resources=fields({}, requests={"type": "object"}, limits={"type": "object"}),
    volumeMounts={"type": "array", "items": fields({"name": TEXT, "mountPath": TEXT})})
POD = fields(
    {"restartPolicy": {"enum": ["Never", "OnFailure"]},
     "containers": {"type": "array", "items": CONTAINER, "minItems": 1}},
    terminationGracePeriodSeconds=COUNT,
    volumes={"type": "array", "items": fields(
        {"name": TEXT, "persistentVolumeClaim": fields({"claimName": TEXT})})})
JOB = fields({
    "apiVersion": {"const": "batch/v1"},
    "kind": {"const": "Job"},
    "metadata": fields({"name": TEXT}),
    "spec": fields(
        {"completionMode": {"const": "Indexed"}, "completions": COUNT,
         "parallelism": COUNT,
         "template": fields({"metadata": {"type": "object"}, "spec": POD})},
        backoffLimit=COUNT)})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = yaml.safe_load(file)
    jsonschema.validate(job, JOB)
    spec = job["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert f"auto/{spec['completions']}" in container["command"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    print(shlex.join(container["command"]))


if __name__ == "__main__":
    main()
