import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** True where there is tmux; else it says that such tests are skipped. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
if (!hasTmux) console.log("skipped: sessions at a terminal (tmux is not installed)");

/** How a terminal is begun. */
export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A terminal of its own, at which a test types and looks. */
export interface Terminal extends Disposable {
  /** Waits until the screen, or what went off it, shows a text, so often; gives all of it, with lines whole that the terminal broke. Blanks at ends of lines are left out. */
  readonly shows: (text: string | RegExp, times?: number) => Promise<string>;
  /** Types keys as tmux names them: `Enter`, `C-c`, or words. */
  readonly keys: (...keys: readonly string[]) => void;
  /** Types a line. */
  readonly line: (text: string) => void;
  /** The screen and what went off it, as the terminal broke its lines. */
  readonly screen: () => string;
  /** The screen with the sequences that colour it. */
  readonly colours: () => string;
  readonly resize: (columns: number, rows: number) => void;
  /** Waits until the program has ended, and gives its exit code. */
  readonly exit: () => Promise<number>;
}

const patienceMs = 50_000; // a busy machine takes ten times as long

/** Begins a program at a terminal. */
export function openTerminal(command: readonly string[], options: TerminalOptions): Terminal {
  const { columns = 80, rows = 24, cwd, env = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "writ-terminal-"));
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...words], { encoding: "utf8" });
  const { TMUX: _tmux, FORCE_COLOR: _colour, NO_COLOR: _none, CI: _ci, ...inherited } = process.env;
  const variables = Object.entries({ ...inherited, ...env, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" })
    .filter(([name]) => /^(?:PATH|HOME|LANG|LC_ALL|WRIT_\w+|NO_COLOR|FORCE_COLOR|OLLAMA_HOST)$/.test(name))
    .map(([name, value]) => `${name}=${value}`);
  const program = ["env", "-i", ...variables, "TERM=tmux-256color", ...command].map(quoted).join(" ");
  const told = `${program}; echo "[ended with $?]"; exec cat`;
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("-u", "new-session", "-d", ...size, "-c", cwd, told);
  const captured = (...how: readonly string[]): string =>
    tmux("capture-pane", "-p", "-S", "-", ...how)
      .replaceAll(/[ \t]+$/gm, "")
      .trimEnd();
  async function shows(text: string | RegExp, times = 1): Promise<string> {
    const wanted =
      typeof text === "string" ? new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "g") : text;
    const pattern = new RegExp(wanted.source, `${wanted.flags.replace("g", "")}g`);
    const until = performance.now() + patienceMs;
    for (;;) {
      const seen = captured("-J");
      if ([...seen.matchAll(pattern)].length >= times) return seen;
      if (performance.now() > until) throw new Error(`"${String(text)}" does not come. The screen:\n${seen}`);
      await setTimeout(30);
    }
  }
  return {
    shows,
    screen: () => captured(),
    colours: () => captured("-e"),
    keys: (...keys) => void tmux("send-keys", ...keys),
    line(text) {
      tmux("send-keys", "-l", text);
      tmux("send-keys", "Enter");
    },
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    async exit() {
      const [, code] = /\[ended with (\d+)\]/.exec(await shows(/\[ended with \d+\]/)) ?? [];
      return Number(code);
    },
    [Symbol.dispose]() {
      spawnSync("tmux", ["-S", join(folder, "socket"), "kill-server"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
