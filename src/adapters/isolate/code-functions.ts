import type { CapabilityKind } from "../../tool/capability.ts";
import type { Handles } from "../../tool/handles.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import type { GivenFunction, GivenHandles } from "./broker.ts";

/** A function of code that uses a handle, with its description for the model. */
interface CodeFunction {
  readonly name: string;
  readonly usage: string;
  readonly call: (handles: GivenHandles, args: readonly Json[], signal: AbortSignal) => unknown;
}

/** By the kind that has to be declared for it. All of it takes and gives JSON, and is awaited. */
const functionsOfKind: Readonly<Partial<Record<CapabilityKind, readonly CodeFunction[]>>> = {
  net: [
    {
      name: "fetchText",
      usage:
        "fetchText(url, { method, headers, body }): the text of the answer; fails unless its status is 2xx",
      call: fetchText,
    },
  ],
  "fs.read": [
    file("readText(path)", "the text of a file", (files, path) => files.readText(path)),
    file("listFolder(path)", 'a list of { name, type: "file" | "folder" | "other" }', (files, path) =>
      files.list(path),
    ),
  ],
  "fs.write": [
    file("writeText(path, text)", "writes a file anew", (files, path, text) => files.writeText(path, text)),
    file("appendText(path, text)", "writes behind what a file holds", (files, path, text) =>
      files.appendText(path, text),
    ),
    file("makeFolder(path)", "makes a folder", (files, path) => files.makeFolder(path)),
    file("remove(path)", "removes a file or an empty folder", (files, path) => files.remove(path)),
  ],
  env: [
    {
      name: "env",
      usage: "env(name): the value of a variable, or null",
      call: (handles, [name]) => given(handles.env, "env")(asText(name)),
    },
  ],
  exec: [
    {
      name: "exec",
      usage: "exec(program, [argument]): { exitCode, stdout, stderr }",
      call: async (handles, [program, args], signal) => {
        const list = Array.isArray(args) ? args.map(asText) : [];
        const { exitCode, stdout, stderr } = await given(handles.exec, "exec")(asText(program), list, {
          signal,
        });
        return { exitCode, stdout, stderr };
      },
    },
  ],
  llm: [
    {
      name: "llm",
      usage: "llm(prompt): what a model answers",
      call: (handles, [prompt]) => given(handles.llm, "llm")(asText(prompt)),
    },
  ],
};

/** The functions that code has by what its tool declared. */
export function codeFunctions(kinds: Iterable<CapabilityKind>): readonly CodeFunction[] {
  return [...new Set(kinds)].flatMap((kind) => functionsOfKind[kind] ?? []);
}

/** The same for one call, with the handles that it was given. */
export function boundFunctions(
  functions: readonly CodeFunction[],
  handles: GivenHandles,
): [name: string, call: GivenFunction][] {
  return functions.map(({ name, call }) => [name, (args, signal) => call(handles, args, signal)]);
}

function file(
  signature: string,
  about: string,
  work: (files: Handles["fs"], path: string, text: string) => Promise<unknown>,
): CodeFunction {
  const takesText = signature.includes("text");
  return {
    name: signature.replace(/\(.*/, ""),
    usage: `${signature}: ${about}`,
    call: (handles, [path, text]) =>
      work(given(handles.fs, "fs"), asText(path), takesText ? asText(text) : ""),
  };
}

async function fetchText(handles: GivenHandles, args: readonly Json[], signal: AbortSignal): Promise<string> {
  const options = isJsonObject(args[1]) ? args[1] : {};
  const { method, headers, body } = options;
  const url = asText(args[0]);
  const response = await given(handles.fetch, "fetch")(url, {
    signal,
    ...(typeof method === "string" && { method }),
    ...(typeof body === "string" && { body }),
    ...(isJsonObject(headers) && {
      headers: Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, asText(value)])),
    }),
  });
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  return response.text();
}

function given<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`this call was given no ${name}`);
  return value;
}

function asText(value: Json | undefined): string {
  if (typeof value !== "string") throw new Error("a text was expected");
  return value;
}
