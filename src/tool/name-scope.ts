import { readPathScope, refusedWindows } from "./path-scope.ts";
import { noScope, readScope, type ScopeReading } from "./scope-reading.ts";

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
const program = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const shellCharacters = /[\s\u0000-\u001f\u007f;&|<>$`"'\\*?()[\]{}!#~]/;

/** Reads the name of an environment variable or a secret. */
export function readVariable(text: string): ScopeReading {
  if (text === "") return noScope("the name is missing.");
  return variable.test(text) && text !== "__proto__"
    ? readScope(text)
    : noScope("a name has letters, digits and `_`, and does not begin with a digit.");
}

/** Reads the name of a variable, or a prefix of names: `APP_*`. */
export function readVariableScope(text: string): ScopeReading {
  if (!text.endsWith("*")) return readVariable(text);
  const prefix = readVariable(text.slice(0, -1));
  return prefix.ok ? readScope(text) : noScope("before `*` stands the beginning of a name, as in APP_*.");
}

export function variableCovers(scope: string, name: string): boolean {
  const isName = readVariable(name).ok;
  return isName && (scope.endsWith("*") ? name.startsWith(scope.slice(0, -1)) : scope === name);
}

/** Reads a program: a bare name such as `git`, or an absolute path. */
export function readProgram(text: string): ScopeReading {
  if (text === "") return noScope("the program is missing.");
  if (text.startsWith("-")) return noScope("a program does not begin with `-`.");
  const refused = refusedWindows(text);
  if (refused !== undefined) return refused;
  if (shellCharacters.test(text))
    return noScope("it is one program: no shell reads it, so it has no spaces, options or signs of a shell.");
  if (text.startsWith("/")) return text.endsWith("/") ? noScope("it is a folder.") : readPathScope(text);
  return program.test(text) ? readScope(text) : noScope("it is a bare name like git, or an absolute path.");
}
