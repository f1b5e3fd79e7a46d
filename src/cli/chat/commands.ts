import { asSentence } from "../../util/as-sentence.ts";
import { writeFile } from "node:fs/promises";
import { modelNamed } from "../../adapters/model/resolve.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { forkSession } from "../../session/session.ts";
import { didYouMean } from "../../util/nearest.ts";
import { countOf } from "../options.ts";
import { countText, oneLine, printable, say } from "../output.ts";
import { talkAsMarkdown } from "./talk-text.ts";
import { type ChatPlace, spentText, type Talk } from "./talk.ts";

/** A command within a conversation. It returns the conversation after it; undefined ends the conversation. */
export interface ChatCommand {
  readonly usage: string;
  readonly about: string;
  readonly act: (rest: string, talk: Talk, place: ChatPlace) => Talk | undefined | Promise<Talk | undefined>;
}

/** The commands, in the order in which `/help` shows them. */
const chatCommands: Readonly<Record<string, ChatCommand>> = {
  help: { usage: "/help", about: "show these commands", act: help },
  model: {
    usage: "/model [name]",
    about: "show the model, or use another one from here on",
    act: changeModel,
  },
  tools: { usage: "/tools", about: "show what the agent may call, and what that changes", act: tellTools },
  approve: {
    usage: "/approve [tool|ask]",
    about: "run the calls of a tool without a question, or ask about each again",
    act: approveTool,
  },
  fork: {
    usage: "/fork [n]",
    about: "go on in a copy of this conversation, or of its first n questions",
    act: fork,
  },
  cost: { usage: "/cost", about: "show the tokens and dollars since this command began", act: tellCost },
  export: {
    usage: "/export [file]",
    about: "print the conversation as Markdown, or write it to a file (.json: as JSON)",
    act: exportTalk,
  },
  quit: { usage: "/quit", about: "leave; /exit and Ctrl-D do too", act: () => undefined },
};

/**
 * Carries out a line that begins with a slash.
 *
 * @throws WritError `option-invalid` for an unknown command
 */
export async function chatCommand(line: string, talk: Talk, place: ChatPlace): Promise<Talk | undefined> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/su.exec(line) ?? [];
  const known = name === "exit" ? "quit" : name; // the word of other command lines
  const command = Object.hasOwn(chatCommands, known) ? chatCommands[known] : undefined;
  if (command !== undefined) return command.act(rest.trim(), talk, place);
  const meant = didYouMean(name, Object.keys(chatCommands)) || ".";
  throw new WritError("option-invalid", {
    option: "The command",
    value: `/${name}`,
    advice: `There is no such command${meant} /help shows all commands; with a blank before the slash, the line goes to the agent.`,
  });
}

function help(_rest: string, talk: Talk, { output }: ChatPlace): Talk {
  const { style } = output;
  const width = Math.max(...Object.values(chatCommands).map(({ usage }) => usage.length));
  const lines = Object.values(chatCommands).map(
    ({ usage, about }) => `  ${style("cyan", usage.padEnd(width))}  ${about}\n`,
  );
  const keys =
    "  A line that ends with \\ continues on the next. Ctrl-C stops an answer; twice, it leaves.\n";
  for (const line of [...lines, keys]) say(line, output);
  return talk;
}

function changeModel(name: string, talk: Talk, { output }: ChatPlace): Talk {
  const agent = name === "" ? talk.agent : talk.agent.with({ model: modelNamed(name) });
  say(`  ${oneLine(agent.modelId ?? "no model")}\n`, output);
  return { ...talk, agent };
}

function tellTools(_rest: string, talk: Talk, { output }: ChatPlace): Talk {
  const lines = talk.agent.describe().split("\n");
  const tools = lines.slice(lines.findIndex((line) => line.startsWith("skill ")));
  for (const line of toolsOf(talk).length === 0 ? ["no tools"] : tools) say(`  ${printable(line)}\n`, output);
  return talk;
}

function toolsOf({ agent }: Talk): readonly string[] {
  return [...new Set(agent.skills.flatMap(({ tools }) => tools))];
}

function approveTool(name: string, talk: Talk, { output }: ChatPlace): Talk {
  const approved = approvedAfter(name, talk);
  const names = [...approved].join(", ");
  say(
    names === ""
      ? "  you are asked about each call that needs an approval\n"
      : `  calls of ${printable(names)} run without a question, whatever their arguments, until /approve ask\n`,
    output,
  );
  return { ...talk, approved };
}

/** @throws WritError `option-invalid` for a tool that the agent does not have */
function approvedAfter(name: string, talk: Talk): ReadonlySet<string> {
  if (name === "") return talk.approved;
  if (name === "ask") return new Set();
  const tools = toolsOf(talk);
  if (tools.includes(name)) return new Set([...talk.approved, name]);
  const advice = tools.length === 0 ? "The agent has no tools." : `It has: ${tools.join(", ")}.`;
  throw new WritError("option-invalid", { option: "/approve", value: name, advice });
}

/** @throws WritError `option-invalid`, `session-run-missing` */
async function fork(rest: string, talk: Talk, { store, output }: ChatPlace): Promise<Talk> {
  const taken = new Set(await store.list());
  if (!taken.has(talk.id)) await store.create(talk.id);
  let number = 2;
  while (taken.has(`${talk.id}-${number}`)) number += 1;
  const id = `${talk.id}-${number}`;
  const { runs } = await forkSession(store, talk.id, {
    newId: id,
    ...(rest === "" ? {} : { atRun: countOf("/fork", rest) }),
  });
  say(
    `  now in ${printable(id)}, after ${countText(runs.length, "question")}; ${printable(talk.id)} stays as it is\n`,
    output,
  );
  return { ...talk, id };
}

function tellCost(_rest: string, talk: Talk, { output }: ChatPlace): Talk {
  say(`  ${spentText(talk.spent)}\n`, output);
  return talk;
}

/** @throws WritError `option-invalid` for a file that already exists, or cannot be written */
async function exportTalk(path: string, talk: Talk, { store, output }: ChatPlace): Promise<Talk> {
  const ids = await store.list();
  const record = ids.includes(talk.id) ? await store.read(talk.id) : await store.create(talk.id);
  if (path === "") {
    await output.answer(talkAsMarkdown(record, talk.agent.name));
    return talk;
  }
  const text = path.endsWith(".json")
    ? `${JSON.stringify(record, undefined, 2)}\n`
    : talkAsMarkdown(record, talk.agent.name);
  await writeFile(path, text, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
    throw new WritError("option-invalid", {
      option: "/export",
      value: path,
      advice: asSentence(messageOf(error)),
    });
  });
  say(`  written to ${printable(path)}\n`, output);
  return talk;
}
