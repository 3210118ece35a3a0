"""Checks Kubernetes objects against the models of the official Python client (Debian's python3-kubernetes), which are generated
from the API's own description: unknown fields, missing ones, wrong types. No API server is asked."""

import re

import kubernetes.client.models as models
from kubernetes.client import Configuration

KINDS = {
    ("v1", "ConfigMap"): "V1ConfigMap",
    ("v1", "Service"): "V1Service",
    ("apps/v1", "Deployment"): "V1Deployment",
    ("policy/v1", "PodDisruptionBudget"): "V1PodDisruptionBudget",
}
SCALARS = {"str": str, "int": int, "bool": bool, "float": (int, float)}


def check(value, kind, path):
    """Yields what is wrong with `value` as a `kind` in the notation of the client's openapi_types."""
    container = re.fullmatch(r"(list|dict)[\[(](?:str, ?)?(.+)[\])]", kind)
    if kind == "object":
        # The client's word for what is an integer or a string (ports, maxUnavailable).
        if not isinstance(value, (int, str, dict)) or isinstance(value, bool):
            yield f"{path}: {value!r}"
    elif container and container.group(1) == "list":
        if not isinstance(value, list):
            yield f"{path}: not a list but {value!r}"
            return
        for i, each in enumerate(value):
            yield from check(each, container.group(2), f"{path}[{i}]")
    elif container:
        if not isinstance(value, dict):
            yield f"{path}: not a map but {value!r}"
            return
        for key, each in value.items():
            if not isinstance(key, str):
                yield f"{path}: key {key!r}"
            yield from check(each, container.group(2), f"{path}.{key}")
    elif kind in SCALARS:
        if not isinstance(value, SCALARS[kind]) or (kind != "bool" and isinstance(value, bool)):
            yield f"{path}: not {kind} but {value!r}"
    else:
        yield from check_model(value, getattr(models, kind), path)


def check_model(value, model, path):
    if not isinstance(value, dict):
        yield f"{path}: not a map but {value!r}"
        return
    attributes = {json_name: name for name, json_name in model.attribute_map.items()}
    arguments = {}
    for key, each in value.items():
        if key not in attributes:
            yield f"{path}: {model.__name__} has no field {key}"
            continue
        arguments[attributes[key]] = each
        yield from check(each, model.openapi_types[attributes[key]], f"{path}.{key}")
    configuration = Configuration()
    configuration.client_side_validation = True
    try:
        model(local_vars_configuration=configuration, **arguments)  # required fields, enumerations
    except ValueError as error:
        yield f"{path}: {error}"


def problems(document):
    name = KINDS.get((document.get("apiVersion"), document.get("kind")))
    if name is None:
        return [f"no model for {document.get('apiVersion')} {document.get('kind')}"]
    return list(check(document, name, document["kind"]))
