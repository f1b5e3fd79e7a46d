import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Asked, Decision, End, Start, Tool } from "../../suite/contract.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

type Line = Readonly<
  Record<"type" | "id" | "talk" | "key" | "name" | "text" | "message" | "arguments", string>
> & {
  readonly end: End;
};

/** A run in Python: its messages so far, and the caller that waits for more of them. */
class Going {
  readonly lines: Line[] = [];
  wake: () => void = () => undefined;

  tell(line: Line): void {
    this.lines.push(line);
    this.wake();
  }

  async next(): Promise<Line> {
    while (this.lines.length === 0) await new Promise<void>((wake) => (this.wake = wake));
    const [line] = this.lines.splice(0, 1) as [Line];
    if (line.type === "threw") throw new Error(line.message);
    return line;
  }
}

const python = spawn(here(".venv/bin/python"), ["-W", "ignore", here("adapter.py")], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [runs, signals, talks] = [
  new Map<string, Going>(),
  new Map<string, AbortController>(),
  new Map<string, readonly Tool[]>(),
];
const tell = (line: object): void => void python.stdin.write(`${JSON.stringify(line)}\n`);

/** Runs a tool of the case when Python asks for it. */
async function carryOut({ key, talk, name, arguments: args }: Line): Promise<void> {
  const stop = new AbortController();
  signals.set(key, stop);
  try {
    const exact = args.replaceAll(/(?<=[:[,])-?\d{16,}(?=[,}\]])/g, '"$&"'); // Python's integers have no limit
    const tool = talks.get(talk)?.find((one) => one.name === name);
    tell({ op: "result", key, value: await tool?.execute(JSON.parse(exact), { signal: stop.signal }) });
  } catch (error) {
    tell({ op: "result", key, error: error instanceof Error ? error.message : String(error) });
  }
}

createInterface({ input: python.stdout }).on("line", (text) => {
  const line = JSON.parse(text) as Line;
  if (line.type === "tool") void carryOut(line);
  else if (line.type === "left") signals.get(line.key)?.abort();
  else runs.get(line.id)?.tell(line);
});
await once(python.stdout, "readable"); // the process says that it is ready

/** The agent is made and run in Python (adapter.py); its tools, which are the case's, run here. */
export const start: Start = ({ tools, guardrail: _guardrail, ...setup }) => {
  const talk = `${talks.size}`;
  talks.set(talk, tools);
  tell({ op: "begin", talk, ...setup, tools });

  function begin(op: string, more: object, { signal, only }: Asked = {}) {
    const [id, going] = [`${runs.size}`, new Going()];
    runs.set(id, going);
    const cancel = () => tell({ op: "cancel", talk, id });
    tell({ op, talk, id, only, ...more });
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted === true) cancel();
    return { going, cancel };
  }

  const endOf = (end: End): End => ({ ...end, answer: answerTo(end.kept) });
  const answerTo = (kept: string | undefined) => async (decisions: readonly Decision[]) =>
    endOf((await begin("answer", { kept, decisions }).going.next()).end);

  return {
    ask: async (message, asked) => endOf((await begin("ask", { message }, asked).going.next()).end),
    async stream(message, asked) {
      const { going, cancel } = begin("stream", { message }, asked);
      let end: End | undefined;
      async function* pieces() {
        try {
          while (end === undefined) {
            const line = await going.next();
            if (line.type === "end") end = line.end;
            else yield line.text;
          }
        } finally {
          if (end === undefined) cancel();
        }
      }
      return { pieces: pieces(), end: async () => end ?? { text: "", ended: "left" } };
    },
    async restore(kept) {
      const { questions } = JSON.parse(kept) as End;
      return { text: "", ended: "waiting", questions: questions ?? [], answer: answerTo(kept) };
    },
  };
};
