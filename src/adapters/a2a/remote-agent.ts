import { setTimeout as sleep } from "node:timers/promises";
import type * as A2a from "@a2a-js/sdk";
import type * as A2aClient from "@a2a-js/sdk/client";
import { file } from "../../message/file-part.ts";
import type { FilePart } from "../../message/message.ts";
import { type WithFiles, withFiles } from "../../tool/with-files.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { errorWithoutKeys, keyScrub } from "../model/without-keys.ts";
import { importInstalled, importPeer } from "../peer.ts";

/** An agent at an address, with the headers for its origin. */
export interface RemoteAgent {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** A message of a model to an agent: for a new task, or for one that wants input. */
export interface Said {
  readonly message: string;
  readonly task?: string;
}

interface Telling {
  readonly messageId: string;
  readonly signal: AbortSignal;
}

/** The package's numbers of the states of a task. */
const states = { submitted: 1, working: 2, completed: 3, inputRequired: 6 } as const;

/** The pauses between requests for the state of a task: short at first, later at most a second. */
const pauses = { firstMs: 50, mostMs: 1_000 } as const;

/**
 * Sends a message and waits for the result. It cancels the known task if the signal is aborted, or if the agent can no longer be asked about it.
 *
 * @throws Error for an agent that fails, refuses or cannot be reached; WritError `peer-missing`
 */
export async function tell(
  agent: RemoteAgent,
  said: Said,
  telling: Telling,
): Promise<string | WithFiles<string>> {
  try {
    return await told(agent, said, telling);
  } catch (error) {
    throw errorWithoutKeys(error, keyScrub(Object.entries(agent.headers)));
  }
}

async function told(
  agent: RemoteAgent,
  { message: text, task: taskId = "" }: Said,
  { messageId, signal }: Telling,
): Promise<string | WithFiles<string>> {
  const client = await connect(agent, signal);
  const part: A2a.Part = {
    content: { $case: "text", value: text },
    metadata: undefined,
    filename: "",
    mediaType: "",
  };
  const message: A2a.Message = {
    messageId,
    contextId: "",
    taskId,
    role: 1,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const answer = await client.sendMessage(
    { tenant: "", message, configuration, metadata: undefined },
    { signal },
  );
  return "status" in answer ? resultOf(await atRest(answer, client, signal)) : given(answer.parts);
}

/** Asks for the task at once, so that its id is known while the agent works. */
const configuration: A2a.SendMessageConfiguration = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: true,
};

/** The milliseconds that the cancel of a task may take: nobody waits for it, but its connection would keep the program running. */
const cancelMs = 2_000;

const stateOf = ({ status }: A2a.Task): number => status?.state ?? 0;

/** The most failed requests in a row: they take some seconds, in which a server can restart. */
const mostFailures = 10;

/** Asks for the state of a task until the agent no longer works on it. If this fails or is aborted, it cancels the task. */
async function atRest(task: A2a.Task, client: A2aClient.Client, signal: AbortSignal): Promise<A2a.Task> {
  const { id } = task;
  let latest = task;
  let failures = 0;
  try {
    for (
      let pauseMs: number = pauses.firstMs;
      isAtWork(latest);
      pauseMs = Math.min(2 * pauseMs, pauses.mostMs)
    ) {
      await sleep(pauseMs, undefined, { signal });
      try {
        latest = await client.getTask({ tenant: "", id }, { signal });
        failures = 0;
      } catch (error) {
        failures += 1;
        if (signal.aborted || failures === mostFailures) throw error;
      }
    }
    return latest;
  } catch (error) {
    const stop = AbortSignal.timeout(cancelMs);
    await client.cancelTask({ tenant: "", id, metadata: undefined }, { signal: stop }).catch(() => undefined);
    throw error;
  }
}

const isAtWork = (task: A2a.Task): boolean =>
  stateOf(task) === states.submitted || stateOf(task) === states.working;

/** The client for an agent: the addresses in its card must be at its origin. */
async function connect({ url, headers }: RemoteAgent, signal: AbortSignal): Promise<A2aClient.Client> {
  const name = "@a2a-js/sdk";
  const library = await importPeer(() => importInstalled<typeof A2aClient>(`${name}/client`), {
    package: name,
    purpose: "agents by A2A",
  });
  const fetchImpl: typeof fetch = (to, init) =>
    boundedFetch(url.origin, headers)(to instanceof Request ? to.url : to, init);
  const fetchCard: typeof fetch = (to, init) => fetchImpl(to, { ...init, signal }); // the package passes no signal here
  const resolver = new library.DefaultAgentCardResolver({ fetchImpl: fetchCard });
  const card = await resolver.resolve(url.href);
  const offered = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  const own = offered.filter((each) => URL.canParse(each.url) && new URL(each.url).origin === url.origin);
  if (own.length === 0)
    throw new Error(`the card of the agent names no address at ${url.origin}, and others are not asked`);
  const transports = [
    new library.JsonRpcTransportFactory({ fetchImpl }),
    new library.RestTransportFactory({ fetchImpl }),
  ];
  const factory = new library.ClientFactory({ transports, cardResolver: resolver });
  return factory.createFromAgentCard({ ...card, supportedInterfaces: own });
}

function resultOf(task: A2a.Task): string | WithFiles<string> {
  const { id, status, artifacts } = task;
  const words = status?.message?.parts ?? [];
  if (stateOf(task) === states.completed)
    return given(
      artifacts.flatMap(({ parts }) => parts),
      words,
    );
  const text = textOf(words);
  if (stateOf(task) === states.inputRequired)
    return `The task ${JSON.stringify(id)} is not done: it wants input.\n${text}`;
  throw new Error(text || "the agent did not do it, and does not say why");
}

/** The text of parts, with their files; `otherwise` if there are none. */
function given(parts: readonly A2a.Part[], otherwise: readonly A2a.Part[] = []): string | WithFiles<string> {
  const said = parts.length === 0 ? otherwise : parts;
  const files = said.flatMap(fileIn);
  const text = textOf(said);
  return files.length === 0 ? text || "(no content)" : withFiles(text, files);
}

function textOf(parts: readonly A2a.Part[]): string {
  const lines = parts.map(({ content }) => {
    if (content?.$case === "text") return content.value;
    if (content?.$case === "data") return JSON.stringify(content.value);
    return content?.$case === "url" ? `[${content.value}]` : "";
  });
  return lines.filter((line) => line !== "").join("\n");
}

function fileIn({ content, mediaType }: A2a.Part): FilePart[] {
  if (content?.$case !== "raw") return [];
  return [file(content.value.toString("base64"), mediaType || "application/octet-stream")];
}
