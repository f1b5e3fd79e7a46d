import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { decoded } from "../util/media.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import { checkPrincipals, hashToken, type Principal } from "../server/callers.ts";
import { changeFile } from "./change-file.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { listOf, type OutputFlags } from "./options.ts";
import { jsonLine, processOutput } from "./output.ts";
import { writing } from "./writing.ts";

/** The options of `writ token`. */
export interface TokenFlags extends OutputFlags {
  readonly tokens: string;
  readonly agents?: string;
  readonly operator?: boolean;
}

/** The principals of a file. @throws WritError `tokens-invalid` */
export function readPrincipals(path: string): readonly Principal[] {
  try {
    const { principals } = JSON.parse(decoded(readFileSync(path)));
    checkPrincipals(principals);
    return principals;
  } catch (error) {
    throw new WritError("tokens-invalid", { path, reason: messageOf(error) });
  }
}

/** @throws WritError `option-invalid` for a name or an agent that a principal cannot have */
function checkPrincipal(principal: Principal, name: string): void {
  try {
    checkPrincipals([principal]);
  } catch (error) {
    throw new WritError("option-invalid", { option: "<name>", value: name, advice: messageOf(error) });
  }
}

/** The text of a file of principals with a new principal, or with a new token of a known one. @throws WritError `tokens-invalid` */
function textWith({ tokens, ...about }: Principal, path: string): string {
  const known = existsSync(path) ? readPrincipals(path) : [];
  const before = known.find(({ name }) => name === about.name);
  const principal = { ...before, ...about, tokens: [...(before?.tokens ?? []), ...tokens] };
  const principals = [...known.filter((one) => one !== before), principal];
  return `${JSON.stringify({ principals }, undefined, 2)}\n`;
}

/** `writ token <name>`: makes a token for a principal, keeps its hash in the file, and prints the token, this once. */
export async function makeToken(name: string, flags: TokenFlags): Promise<ExitCode> {
  const { tokens: path } = flags;
  const token = `writ_${randomBytes(24).toString("base64url")}`;
  const agents = flags.agents === undefined ? {} : { agents: listOf(flags.agents) };
  const operator = flags.operator === true ? { operator: true } : {};
  const principal = { name, ...agents, ...operator, tokens: [hashToken(token)] };
  checkPrincipal(principal, name);
  const named = { option: "--tokens", path, instead: "Name a file that this process may write." };
  await writing(named, () => changeFile(path, () => textWith(principal, path)));
  await processOutput.answer(flags.json === true ? jsonLine({ type: "token", name, token }) : `${token}\n`);
  processOutput.progress(`Its hash is in ${path}; the token itself is stored nowhere.\n`);
  return exitCodes.answered;
}
