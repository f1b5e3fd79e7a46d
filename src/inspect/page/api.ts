import type {
  InspectedRun,
  ListedRun,
  PlayableTool,
  PlayedCall,
  ReplayedRun,
  RunChange,
  TriedCall,
} from "../view.ts";
import type { WaitingQuestion } from "../../durable/run-store.ts";

/** The acts that the page may do, and the current runs. */
export interface Overview {
  readonly runs: readonly ListedRun[];
  readonly place: string;
  /** True if the inspector itself carries out runs. */
  readonly works: boolean;
  /** The agents whose programs the inspector has: their runs can be answered and forked. */
  readonly agents: readonly string[];
}

/** Takes the token from the fragment, which is sent to no server, and keeps it for this tab and origin only. */
export function takeToken(): string {
  const given = tokenIn(location.hash);
  if (given !== undefined) {
    sessionStorage.setItem("writ-token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem("writ-token") ?? "";
}

/** Takes the token of an address that is opened in the tab of this page, and stays at the place of the page. */
export function takeLaterTokens(): void {
  addEventListener("hashchange", ({ oldURL }) => {
    if (tokenIn(location.hash) === undefined) return;
    takeToken();
    history.replaceState(null, "", new URL(oldURL).hash || location.pathname);
    location.reload();
  });
}

const tokenIn = (hash: string): string | undefined => /^#token=([\w-]+)$/.exec(hash)?.[1];

/** A request that was answered with an error, with the server's message. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly hint: string;
  constructor(status: number, message: string, hint: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** The text of an error, with the advice. */
export const troubleText = (error: unknown): string =>
  error instanceof RefusedRequest ? `${error.message} ${error.hint}` : String(error);

/** The listeners for the stream of runs. */
export interface Following {
  readonly onOverview: (overview: Overview) => void;
  readonly onChange: (change: RunChange) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** The server of the page. */
export class Api {
  private readonly token: string;

  constructor(token: string) {
    this.token = token;
  }

  overview(): Promise<Overview> {
    return this.read("/api/runs");
  }

  /** One run; a quick look omits its replay. */
  run(id: string, isQuick = false): Promise<InspectedRun> {
    return this.read(`/api/run?id=${encodeURIComponent(id)}${isQuick ? "&quick=yes" : ""}`);
  }

  async search(text: string): Promise<readonly string[]> {
    const { ids } = await this.read<{ readonly ids: readonly string[] }>(
      `/api/search?text=${encodeURIComponent(text)}`,
    );
    return ids;
  }

  async questions(): Promise<readonly WaitingQuestion[]> {
    const { questions } = await this.read<{ readonly questions: readonly WaitingQuestion[] }>(
      "/api/questions",
    );
    return questions;
  }

  async answer(id: string, answer: object): Promise<void> {
    await this.send(`/api/answer?id=${encodeURIComponent(id)}`, answer);
  }

  async fork(id: string, wanted: object): Promise<string> {
    const response = await this.send(`/api/fork?id=${encodeURIComponent(id)}`, wanted);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
    return ((await response.json()) as { readonly id: string }).id;
  }

  /** Replays a run from its records. */
  replay(id: string): Promise<ReplayedRun> {
    return this.read(`/api/replay?id=${encodeURIComponent(id)}`);
  }

  /** The policy of an agent: its name, and its rules if they are data. */
  policy(agent: string): Promise<{ readonly name: string; readonly policy?: object }> {
    return this.read(`/api/policy?agent=${encodeURIComponent(agent)}`);
  }

  async tryPolicy(id: string, policy: unknown): Promise<readonly TriedCall[]> {
    const response = await this.send(`/api/try-policy?id=${encodeURIComponent(id)}`, { policy });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
    return ((await response.json()) as { readonly calls: readonly TriedCall[] }).calls;
  }

  async playable(agent: string): Promise<readonly PlayableTool[]> {
    const path = `/api/play?agent=${encodeURIComponent(agent)}`;
    return (await this.read<{ readonly tools: readonly PlayableTool[] }>(path)).tools;
  }

  /** Tries a call, and returns the view of its run, which is not kept. */
  async play(agent: string, call: PlayedCall): Promise<InspectedRun> {
    const response = await this.send(`/api/play/call?agent=${encodeURIComponent(agent)}`, call);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
    return (await response.json()) as InspectedRun;
  }

  /** Begins a run with these messages, and returns its id. */
  async chat(agent: string, said: readonly object[]): Promise<string> {
    const response = await this.send(`/api/play/chat?agent=${encodeURIComponent(agent)}`, { said });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
    return ((await response.json()) as { readonly id: string }).id;
  }

  async exported(id: string): Promise<Blob> {
    return (await this.fetch(`/api/export?id=${encodeURIComponent(id)}`)).blob();
  }

  /** Passes on the runs, then their changes, until the signal. If the stream breaks, it connects again, and passes on the runs again. */
  async follow({ onOverview, onChange, onTrouble }: Following, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { body } = await this.fetch("/api/changes", { signal });
        onOverview(await this.overview()); // read after the stream was opened, so that no change is missed
        for await (const text of eventsIn(body)) {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
          onChange(JSON.parse(text) as RunChange);
        }
      } catch (error) {
        if (!signal.aborted) onTrouble(error); // the server has gone, or restarts
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  private async read<Answer>(path: string): Promise<Answer> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server of this page wrote it
    return (await (await this.fetch(path)).json()) as Answer;
  }

  private send(path: string, body: object): Promise<Response> {
    const headers = { "content-type": "application/json" };
    return this.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  private async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    const response = await fetch(path, { ...init, headers });
    if (response.ok) return response;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a failed answer is one of these, or not JSON
    const problem = (await response.json().catch(() => ({}))) as ToldProblem;
    const { title = "the server failed", detail = title, hint = "" } = problem;
    throw new RefusedRequest(response.status, detail, hint);
  }
}

interface ToldProblem {
  readonly title?: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** The data of the events of a stream. */
async function* eventsIn(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string, void> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const data = part.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
      if (data.length > 0) yield data.join("\n");
    }
  }
}
