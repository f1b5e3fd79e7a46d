import { createInterface, type Interface } from "node:readline";
import type { ReadStream } from "node:tty";
import type { Output } from "../output.ts";

/** The next input of a person: some text; the end of the input; or Ctrl-C, twice. */
export type Said =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "end" }
  | { readonly type: "interrupted" };

/** The source of the person's lines. */
export interface ChatLines {
  readonly next: () => Promise<Said>;
}

/** Each line that is piped in. */
export function pipedLines(input: NodeJS.ReadableStream): ChatLines {
  const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
  return {
    async next() {
      const line = await lines.next();
      return line.done === true ? { type: "end" } : { type: "text", text: line.value };
    },
  };
}

/**
 * Lines that a person types, with arrow keys and history. A line that ends with `\` continues on the next one, and lines that are pasted together are
 * one input. Ctrl-C takes back the typed line; if there is none, a second one leaves.
 */
export function typedLines(input: ReadStream, output: Output, history: readonly string[]): ChatLines {
  let known = [...history];
  const ask = (prompt: string): Promise<Said> => {
    const lines = createInterface({
      input,
      output: process.stderr,
      history: known,
      historySize: 1000,
      removeHistoryDuplicates: true,
      prompt: output.style("bold", prompt),
    });
    lines.on("history", (now) => (known = now));
    return said(lines, output);
  };
  return {
    async next() {
      let text = "";
      for (let prompt = "> "; ; prompt = "… ") {
        const next = await ask(prompt);
        if (next.type === "end") output.progress("\n"); // Ctrl-D ends no line
        if (next.type !== "text") return next;
        text += next.text;
        if (!text.endsWith("\\")) return { type: "text", text };
        text = `${text.slice(0, -1)}\n`;
      }
    },
  };
}

function said(lines: Interface, output: Output): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const typed: string[] = [];
  let isWarned = false;
  const end = (said: Said): void => {
    resolve(said);
    lines.close();
  };
  lines.on("line", (line) => {
    typed.push(line.replaceAll("\r", "\n")); // the history of Node has returns between the lines of an input
    const count = typed.length;
    setImmediate(() => {
      if (lines.line === "" && typed.length === count) end({ type: "text", text: typed.join("\n") });
    });
  });
  lines.on("close", () => resolve({ type: "end" }));
  lines.on("SIGINT", () => {
    const isEmpty = lines.line === "" && typed.length === 0;
    typed.length = 0;
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    output.progress("\n");
    if (isEmpty && isWarned) return end({ type: "interrupted" });
    isWarned = isEmpty;
    if (isEmpty) output.progress(`${output.style("dim", "Ctrl-C again leaves.")}\n`);
    lines.prompt();
  });
  lines.prompt();
  return promise;
}
