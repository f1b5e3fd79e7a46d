import type { ExecOptions } from "../../tool/handles.ts";
import { readVariable } from "../../tool/name-scope.ts";
import { isRefusedVariable } from "./exec-variables.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";
import { reveal } from "./secrets.ts";

/** Where programs are looked for: nothing that belongs to a user or a project. */
export const searchPath: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/**
 * The whole environment of a program.
 *
 * @throws WritError `handle-failed` for a name that is refused
 */
export function environmentOf(
  options: ExecOptions,
  {
    home,
    lifetime,
    resource,
  }: { readonly home: string; readonly lifetime: Lifetime; readonly resource: string },
): Record<string, string> {
  const environment: Record<string, string> = { PATH: searchPath.join(":"), HOME: home, LANG: "C.UTF-8" };
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (!readVariable(name).ok || isRefusedVariable(name))
      throw handleFailed(resource, `the variable ${JSON.stringify(name)} is refused.`);
    const text = reveal(value, lifetime, resource);
    if (text.includes("\0")) throw handleFailed(resource, `the variable ${name} has a NUL in it.`);
    environment[name] = text;
  }
  return environment;
}
