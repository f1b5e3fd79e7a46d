import { nodeHost } from "../clock.ts";

/** Names of variables whose values are secrets. */
const secretNames = /key|token|secret|passw|credential/i;
/** A shorter value stands in texts that have nothing to do with it. */
const shortestSecret = 8;

/**
 * Gives texts as they may be kept: secrets of the runtime, values of the environment whose names speak of a key, a token, a secret or a password, and parts to
 * `redact` are replaced. The environment is that of now.
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

/** The same expression, which finds all places. */
function everywhere(part: RegExp): RegExp {
  return new RegExp(part.source, part.flags.includes("g") ? part.flags : `${part.flags}g`);
}
