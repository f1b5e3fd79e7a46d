import type { ExecOptions } from "../../tool/handles.ts";
import { readVariable } from "../../tool/name-scope.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";
import { reveal } from "./secrets.ts";

/** Where programs are looked for: nothing that belongs to a user or a project. */
export const searchPath: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Variables that change which code a program loads, which other programs it starts, or whom it trusts. */
const refused =
  /^(?:PATH|HOME|SHELL|IFS|PS4|ENV|BASH_.*|BASHOPTS|SHELLOPTS|CDPATH|LD_.*|DYLD_.*|GLIBC_.*|GCONV_PATH|MALLOC_.*|LOCPATH|NLSPATH|NODE_.*|NPM_.*|GIT_.*|SSH_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|PHP.*|JAVA_.*|_JAVA_.*|JDK_.*|CLASSPATH|LUA_.*|R_.*|DOTNET_.*|COR_.*|CORECLR_.*|EDITOR|VISUAL|PAGER|.*_PAGER|LESS.*|BROWSER|TERMINFO.*|SSL_.*|OPENSSL_.*|CURL_.*|.*_PROXY|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|RESOLV_.*|XDG_.*|TMPDIR|MAKEFLAGS|MAKEFILES|CARGO_.*|RUSTC.*|GO.*)$/i;

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
    if (!readVariable(name).ok || refused.test(name))
      throw handleFailed(resource, `the variable ${JSON.stringify(name)} is refused.`);
    const text = reveal(value, lifetime, resource);
    if (text.includes("\0")) throw handleFailed(resource, `the variable ${name} has a NUL in it.`);
    environment[name] = text;
  }
  return environment;
}
