import { sqliteSessions } from "../../adapters/sqlite/sqlite-sessions.ts";
import { WritError } from "../../error/writ-error.ts";
import { inMemorySessions } from "../../session/in-memory-sessions.ts";
import type { SessionRecord } from "../../session/session-store.ts";
import { errorText } from "../error-text.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-code.ts";
import { type AgentFlags, agentLoader } from "../given-agent.ts";
import { toldToEndAll } from "../interrupts.ts";
import { single } from "../load-agent.ts";
import { countText, oneLine, processOutput, say } from "../output.ts";
import { chatCommand } from "./commands.ts";
import { type ChatLines, pipedLines, typedLines } from "./lines.ts";
import { questionsOf } from "./talk-text.ts";
import { type ChatPlace, nothingSpent, type Talk } from "./talk.ts";
import { askAgent } from "./turn.ts";

/** The options of `writ chat`. */
export interface ChatFlags extends AgentFlags {
  readonly session?: string;
  readonly id?: string;
  readonly verbose?: boolean;
}

/**
 * `writ chat <file>`: a conversation with the agent of a file, on a terminal or line by line from a pipe, kept in a session.
 *
 * @throws WritError for everything that is wrong before it begins: the options, the file, the store
 */
export async function chat(file: string, flags: ChatFlags): Promise<ExitCode> {
  const { session: path, id = "chat", verbose = false } = flags;
  if (path === undefined && flags.id !== undefined) {
    const advice = "It is the name of a conversation in a file: give `--session <file>` too.";
    throw new WritError("option-invalid", { option: "--id", value: id, advice });
  }
  const load = agentLoader(file, flags);
  const agent = single(await load(), "A conversation");
  using kept = path === undefined ? undefined : sqliteSessions(path);
  const place: ChatPlace = { store: kept ?? inMemorySessions(), output: processOutput, verbose };
  const before = (await place.store.list()).includes(id) ? await place.store.read(id) : { runs: [] };
  const talk: Talk = { agent, id, approved: new Set(), spent: nothingSpent };
  return await converse(talk, place, beginLines(talk, place, before)); // the place is closed after the conversation
}

/** Introduces the agent to a person at a terminal. */
function beginLines(
  { agent, id }: Talk,
  { output }: ChatPlace,
  before: Pick<SessionRecord, "runs">,
): ChatLines {
  const { stdin } = process;
  if (!stdin.isTTY || !output.isTerminal) return pipedLines(stdin);
  const { style } = output;
  const model = agent.modelId === undefined ? "" : ` with ${oneLine(agent.modelId)}`;
  say(`${style("bold", `${agent.name}${model}`)}  ${style("dim", "/help shows the commands")}\n`, output);
  if (before.runs.length > 0)
    say(
      `${style("dim", `going on with ${oneLine(id)}: ${countText(before.runs.length, "question")} so far`)}\n`,
      output,
    );
  return typedLines(stdin, output, questionsOf(before));
}

/** Returns 0 if a person left; for piped lines, the exit code of the first that failed. */
async function converse(begun: Talk, place: ChatPlace, lines: ChatLines): Promise<ExitCode> {
  let talk = begun;
  let firstFault: ExitCode = exitCodes.answered;
  for (;;) {
    const said = await lines.next();
    if (said.type === "interrupted") return exitCodes.interrupted;
    const step = said.type === "end" ? undefined : await take(said.text, talk, place);
    if (toldToEndAll()) return exitCodes.interrupted;
    if (step?.talk === undefined) return process.stdin.isTTY ? exitCodes.answered : firstFault;
    talk = step.talk;
    firstFault ||= step.exitCode;
  }
}

interface Step {
  /** Undefined if the person leaves. */
  readonly talk: Talk | undefined;
  readonly exitCode: ExitCode;
}

async function take(text: string, talk: Talk, place: ChatPlace): Promise<Step> {
  const { output, verbose } = place;
  try {
    if (text.trim() === "") return { talk, exitCode: exitCodes.answered };
    if (text.startsWith("/"))
      return { talk: await chatCommand(text, talk, place), exitCode: exitCodes.answered };
    const { spent, exitCode } = await askAgent(text, talk, place);
    if (output.answersTerminal) output.progress("\n");
    return { talk: { ...talk, spent }, exitCode };
  } catch (error) {
    output.progress(errorText(error, { verbose, style: output.style, screen: output.screen }));
    return { talk, exitCode: exitCodeOf({ error }) };
  }
}
