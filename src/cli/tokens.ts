import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { messageOf, WritError } from "../error/writ-error.ts";
import { checkPrincipals, hashToken, type Principal } from "../server/callers.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { listOf, type OutputFlags } from "./options.ts";
import { jsonLine, processOutput } from "./output.ts";

/** The options of `writ token`. */
export interface TokenFlags extends OutputFlags {
  readonly tokens: string;
  readonly agents?: string;
}

/** The principals of a file. @throws WritError `tokens-invalid` */
export function readPrincipals(path: string): readonly Principal[] {
  try {
    const { principals } = JSON.parse(readFileSync(path, "utf8"));
    checkPrincipals(principals);
    return principals;
  } catch (error) {
    throw new WritError("tokens-invalid", { path, reason: messageOf(error) });
  }
}

/** @throws WritError `option-invalid` for a name or an agent that no principal can have */
function checkPrincipal(principal: Principal, name: string): void {
  try {
    checkPrincipals([principal]);
  } catch (error) {
    throw new WritError("option-invalid", { option: "<name>", value: name, advice: `${messageOf(error)}.` });
  }
}

/** Writes the file in the place of the one before, whole or not at all. Who could read that can read this. @throws Error of the file system */
function replaceFile(given: string, text: string): void {
  const path = existsSync(given) ? realpathSync(given) : given;
  const before = statSync(path, { throwIfNoEntry: false });
  const part = `${path}.${process.pid}.part`;
  try {
    writeFileSync(part, text, { mode: 0o600, flush: true });
    const made = statSync(part);
    if (before !== undefined && (before.uid !== made.uid || before.gid !== made.gid))
      chownSync(part, before.uid, before.gid);
    if (before !== undefined) chmodSync(part, before.mode & 0o777);
    renameSync(part, path);
  } finally {
    rmSync(part, { force: true });
  }
}

/** `writ token <name>`: makes a token for somebody, keeps its hash in the file, and prints it, this once. */
export async function makeToken(name: string, flags: TokenFlags): Promise<ExitCode> {
  const { tokens: path } = flags;
  const known = existsSync(path) ? readPrincipals(path) : [];
  const token = `writ_${randomBytes(24).toString("base64url")}`;
  const before = known.find((one) => one.name === name);
  const agents = flags.agents === undefined ? {} : { agents: listOf(flags.agents) };
  const principal: Principal = {
    ...before,
    name,
    ...agents,
    tokens: [...(before?.tokens ?? []), hashToken(token)],
  };
  checkPrincipal(principal, name);
  const principals = [...known.filter((one) => one !== before), principal];
  try {
    checkPrincipals(principals);
  } catch (error) {
    throw new WritError("tokens-invalid", { path, reason: messageOf(error) });
  }
  try {
    replaceFile(path, `${JSON.stringify({ principals }, undefined, 2)}\n`);
  } catch (cause) {
    const advice = `It cannot be written: ${messageOf(cause)}. Name a file that this process may write.`;
    throw new WritError("option-invalid", { option: "--tokens", value: path, advice }, { cause });
  }
  await processOutput.answer(flags.json === true ? jsonLine({ type: "token", name, token }) : `${token}\n`);
  processOutput.progress(`Its hash is in ${path}; the token itself is nowhere else.\n`);
  return exitCodes.answered;
}
