"""Serves a GGUF file as llama.cpp's own HTTP server does, on this machine alone: python3 llama-server.py MODEL.gguf [--no-jinja] [--template FILE]
[--parallel N] [--context N]

Needs the package xllamacpp. Prints `{"url": ...}` when it listens, and ends when its standard input does.
"""

import argparse
import json
import os
import sys

import xllamacpp


def parameters(given: argparse.Namespace) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = given.context
    params.n_parallel = given.parallel
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more wait for each other where cores are shared
    params.use_jinja = not given.no_jinja
    if given.template is not None:
        with open(given.template, encoding="utf-8") as file:
            params.chat_template = file.read()
    params.warmup = False
    params.verbosity = -1
    return params


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--no-jinja", action="store_true")
    parser.add_argument("--template")
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--context", type=int, default=8192)
    server = xllamacpp.Server(parameters(parser.parse_args()))
    print(json.dumps({"url": server.listening_address}), flush=True)
    sys.stdin.read()
    os._exit(0)  # the server has threads of its own that nothing else ends


main()
