import type { CapabilityKind } from "../../tool/capability.ts";
import { asObject, isJsonObject, type Json } from "../../util/json.ts";
import {
  askHandle,
  bodyBytes,
  type GivenFunction,
  type GivenHandles,
  mapped,
  present,
  text,
} from "./broker.ts";

/** A function of code that uses a handle, with its description for the model. */
interface CodeFunction {
  readonly name: string;
  readonly usage: string;
  readonly call: (handles: GivenHandles, ...given: Parameters<GivenFunction>) => unknown;
}

/** The functions by the kind that must be declared. All values are JSON, and all functions are awaited. */
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
    asking("fs.readText", "readText(path): the text of a file"),
    asking("fs.list", 'listFolder(path): a list of { name, type: "file" | "folder" | "other" }'),
  ],
  "fs.write": [
    asking("fs.writeText", "writeText(path, text): writes a file anew"),
    asking("fs.appendText", "appendText(path, text): writes behind what a file holds"),
    asking("fs.makeFolder", "makeFolder(path): makes a folder"),
    asking("fs.remove", "remove(path): removes a file or an empty folder"),
  ],
  env: [asking("env", "env(name): the value of a variable, or null")],
  exec: [
    {
      name: "exec",
      usage: "exec(program, [argument]): { exitCode, stdout, stderr }",
      call: async (handles, [program, args], asked) => {
        const request = {
          handle: "exec",
          args: [program ?? null, args ?? []],
          bytes: new Uint8Array(),
          ...asked,
        };
        const { value } = await askHandle(handles, request);
        const { exitCode, stdout, stderr } = asObject(value);
        return { exitCode, stdout, stderr };
      },
    },
  ],
  llm: [asking("llm", "llm(prompt): what a model answers")],
};

/** The functions of code, by the kinds that its tool declared. */
export function codeFunctions(kinds: Iterable<CapabilityKind>): readonly CodeFunction[] {
  return [...new Set(kinds)].flatMap((kind) => functionsOfKind[kind] ?? []);
}

/** The same for one call, with the handles that it was given. */
export function boundFunctions(
  functions: readonly CodeFunction[],
  handles: GivenHandles,
): [name: string, call: GivenFunction][] {
  return functions.map(({ name, call }) => [name, (args, asked) => call(handles, args, asked)]);
}

function asking(handle: string, usage: string): CodeFunction {
  return {
    name: usage.replace(/\(.*/, ""),
    usage,
    call: async (handles, args, asked) =>
      (await askHandle(handles, { handle, args, bytes: new Uint8Array(), ...asked })).value,
  };
}

async function fetchText(
  handles: GivenHandles,
  args: readonly Json[],
  { signal, room }: Parameters<GivenFunction>[1],
): Promise<string> {
  const options = isJsonObject(args[1]) ? args[1] : {};
  const { method, headers, body } = options;
  const url = text(args[0]);
  const response = await present(handles.fetch, "fetch")(url, {
    signal,
    ...(typeof method === "string" && { method }),
    ...(typeof body === "string" && { body }),
    ...(isJsonObject(headers) && {
      headers: mapped(headers, text),
    }),
  });
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  return room.within(bodyBytes(response), () => response.text());
}
