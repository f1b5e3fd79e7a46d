import { nodeHost } from "../clock.ts";

/** The names of variables whose values are secrets. */
const secretNames = /key|token|secret|passw|credential/i;
/** The length below which a value is not replaced: it would occur in unrelated texts. */
const shortestSecret = 8;

/**
 * Makes the function that changes texts for the file: it replaces secrets of the runtime, values of environment variables whose names contain key, token,
 * secret, passw or credential, and parts to `redact`. It uses the current environment.
 */
export function redaction(redact: readonly (string | RegExp)[] = []): (text: string) => string {
  const secrets = Object.entries(process.env)
    .filter(([name, value = ""]) => secretNames.test(name) && value.length >= shortestSecret)
    .toSorted(([, one = ""], [, other = ""]) => other.length - one.length); // one may be a part of another
  return (text) => {
    let clean = nodeHost.powers?.scrub(text) ?? text;
    for (const [name, value = ""] of secrets) clean = clean.replaceAll(value, `[secret ${name}]`);
    for (const part of redact)
      clean = clean.replaceAll(typeof part === "string" ? part : everywhere(part), "[redacted]");
    return clean;
  };
}

/** The same expression with the flag to find all matches. */
function everywhere(part: RegExp): RegExp {
  return new RegExp(part.source, part.flags.includes("g") ? part.flags : `${part.flags}g`);
}
