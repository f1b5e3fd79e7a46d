"""Judges calls with BFCL's own checker. Started by lab/compare-judges.ts with two folders: the one that has the unpacked package `bfcl_eval`, and
the one of the cases, which are read here once more, since the checker looks at how numbers are spelled in them.

Reads one JSON object a line: {category, id, calls}. Writes one line each: the verdict on the calls as they are, and the verdict once whole numbers
have the type that the schema declares, since JSON has one type of number and Python has two.
"""

import functools
import json
import pathlib
import sys
import types


class NoModels(dict):
    """The checker asks of a model only whether its names were changed; here no name is."""

    def __missing__(self, name):
        return types.SimpleNamespace(underscore_to_dot=False)


def stub(name, **members):
    """Stands in for a module that the checker imports and does not need for Python."""
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def typed(value, schema):
    declared = schema.get("type")
    if isinstance(value, bool):
        return value
    if declared == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if declared == "float" and isinstance(value, int):
        return float(value)
    if declared in ("array", "tuple") and isinstance(value, list):
        return [typed(item, schema.get("items", {})) for item in value]
    return value


def typed_calls(calls, functions):
    known = {function["name"]: function["parameters"]["properties"] for function in functions}
    return [
        {name: typed_fields(arguments, known.get(name, {})) for name, arguments in call.items()}
        for call in calls
    ]


def typed_fields(arguments, properties):
    if not isinstance(arguments, dict):
        return arguments
    return {key: typed(value, properties.get(key, {})) for key, value in arguments.items()}


converters = "bfcl_eval.eval_checker.ast_eval.type_convertor."
stub("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING=NoModels())
stub(converters + "java_type_converter", java_type_converter=None)
stub(converters + "js_type_converter", js_type_converter=None)
sys.path.insert(0, sys.argv[1])

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@functools.cache
def cases(category):
    """The functions and the answers of each case."""
    folder, name = pathlib.Path(sys.argv[2]), f"BFCL_v4_{category}.json"
    functions = {case["id"]: case["function"] for case in lines_of(folder / name)}
    answers = lines_of(folder / "possible_answer" / name)
    return {answer["id"]: (functions.get(answer["id"]), answer["ground_truth"]) for answer in answers}


def verdict(category, functions, answers, calls):
    if not all(isinstance(arguments, dict) for call in calls for arguments in call.values()):
        return False  # the checker would fail on such arguments
    return bool(ast_checker(functions, calls, answers, Language.PYTHON, category, "any")["valid"])


for line in sys.stdin:
    asked = json.loads(line)
    category, calls = asked["category"], asked["calls"]
    functions, answers = cases(category)[asked["id"]]
    typed_verdict = verdict(category, functions, answers, typed_calls(calls, functions))
    print(json.dumps([verdict(category, functions, answers, calls), typed_verdict]))
