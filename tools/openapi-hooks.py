"""Names that are there, in the place of those that schemathesis makes up."""

import random

import schemathesis

agents = ["talker", "looker", "payer"]


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and random.random() < 0.8:
        for name in ("agent", "model"):
            if isinstance(body.get(name), str):
                body[name] = random.choice(agents)
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            messages[-1]["role"] = "user"
    return body


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if path_parameters and random.random() < 0.8:
        if "agent" in path_parameters:
            path_parameters["agent"] = random.choice(agents)
        if "id" in path_parameters:
            path_parameters["id"] = random.choice(["talker", "payer"])
    return path_parameters
