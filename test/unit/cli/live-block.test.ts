import { afterEach, describe, expect, it, vi } from "vitest";
import { liveBlock } from "../../../src/cli/live-block.ts";
import { liveCalls } from "../../../src/cli/live-calls.ts";
import type { AgentEvent } from "../../../src/index.ts";

/** A terminal that does what the block asks of one: lines that are broken at its edge, the cursor up, the rest away. */
function fakeTerminal(columns: number, rows = 24) {
  let screen = [""];
  let row = 0;
  let width = columns;
  const put = (character: string): void => {
    if (character === "\n") {
      row += 1;
      screen[row] ??= "";
    } else if (character !== "\r") screen[row] = (screen[row] ?? "") + character;
  };
  const stream = {
    write(text: string) {
      // oxlint-disable-next-line no-control-regex -- what a block writes
      for (const [, up, rest, character = ""] of text.matchAll(/\r\u{1B}\[(\d+)A(\u{1B}\[J)|([^])/gu)) {
        if (rest === undefined) put(character);
        else {
          row -= Number(up);
          screen = [...screen.slice(0, row), ""];
        }
      }
      return true;
    },
  };
  return {
    screen: { size: () => ({ columns: width, rows }), streams: [stream] },
    write: (text: string) => stream.write(text),
    lines: () => screen.filter((line) => line !== ""),
    /** Makes it narrower: as terminals do, it breaks the lines that are longer. */
    narrow(to: number) {
      width = to;
      screen = screen.flatMap((line) => line.match(new RegExp(`.{1,${to}}`, "gu")) ?? [""]);
      row = screen.length - 1;
    },
  };
}

afterEach(() => void vi.useRealTimers());

describe("liveBlock", () => {
  it("writes its lines anew, and what others write above them", () => {
    const terminal = fakeTerminal(40);
    const block = liveBlock(terminal.screen);
    terminal.write("begin\n");
    let count = 0;
    block.set("a", () => `a ${count}`);
    block.set("b", () => "b");
    count = 1;
    terminal.write("a tool prints\n");
    expect(terminal.lines()).toEqual(["begin", "a tool prints", "a 1", "b"]);
    block.delete("a");
    expect(terminal.lines()).toEqual(["begin", "a tool prints", "b"]);
    block.clear();
    terminal.write("end\n");
    expect(terminal.lines()).toEqual(["begin", "a tool prints", "end"]);
  });

  it("waits for the end of a line that somebody else began, and hides while it is told to", () => {
    const terminal = fakeTerminal(40);
    const block = liveBlock(terminal.screen);
    block.set("a", () => "a");
    terminal.write("half ");
    expect(terminal.lines()).toEqual(["half "]);
    terminal.write("a line\n");
    expect(terminal.lines()).toEqual(["half a line", "a"]);
    block.hide();
    terminal.write("question > ");
    terminal.write("y\n");
    expect(terminal.lines()).toEqual(["half a line", "question > y"]);
    block.show();
    expect(terminal.lines()).toEqual(["half a line", "question > y", "a"]);
    block.clear();
  });

  it("takes away all of its lines in a window that was made narrower", () => {
    const terminal = fakeTerminal(40);
    const block = liveBlock(terminal.screen);
    terminal.write("begin\n");
    block.set("a", (columns) => "a".repeat(Math.min(30, columns)));
    terminal.narrow(12);
    block.set("b", () => "b");
    expect(terminal.lines()).toEqual(["begin", "a".repeat(11), "b"]);
    block.clear();
  });

  it("says how many lines do not fit", () => {
    const terminal = fakeTerminal(40, 5);
    const block = liveBlock(terminal.screen);
    for (let index = 0; index < 9; index += 1) block.set(String(index), () => `line ${index}`);
    expect(terminal.lines()).toEqual(["line 0", "line 1", "  and 7 more"]);
    block.clear();
  });

  it("escapes what its lines bring from outside, and gives the streams back", () => {
    const terminal = fakeTerminal(40);
    const written = (): unknown => Object.values(terminal.screen.streams[0] ?? {})[0];
    const before = written();
    const block = liveBlock(terminal.screen);
    block.set("a", () => "a\u001B[2Jb");
    expect(terminal.lines()).toEqual([String.raw`a\u{1b}[2Jb`]);
    expect(written()).not.toBe(before);
    block.clear();
    expect(written()).toBe(before);
  });
});

describe("liveCalls", () => {
  const about = { seq: 0, agent: "a", runId: "r", at: 0, turn: 1 };
  const tell = (event: object): AgentEvent => ({ ...about, ...event }) as AgentEvent;
  const decided = (callId: string): AgentEvent =>
    tell({ type: "call-decided", callId, name: "look", arguments: {}, decision: { verdict: "allow" } });

  it("says of each call where it stands, also of one that ended before one in front of it", () => {
    vi.useFakeTimers({ now: 0 });
    const terminal = fakeTerminal(40);
    const calls = liveCalls(terminal.screen, { style: (_style, text) => text });
    const take = (event: AgentEvent, text = ""): void => calls.take(event, text, "");
    take(tell({ type: "call-state", callId: "3", state: "waits" })); // begun early, before it is told
    for (const callId of ["1", "2", "3"]) take(decided(callId), `${callId} look`);
    expect(terminal.lines()).toEqual(["· 1 look  waiting", "· 2 look  waiting", "· 3 look  waiting"]);
    for (const callId of ["1", "2", "3"])
      take(tell({ type: "tool-start", callId, name: "look", arguments: {} }), `${callId} look`);
    take(tell({ type: "call-state", callId: "2", state: "ended", status: "error", durationMs: 1500 }));
    vi.advanceTimersByTime(3000);
    expect(terminal.lines()).toEqual(["→ 1 look  3 s", "✗ 2 look  1.5 s", "· 3 look  waiting"]);
    take(tell({ type: "tool-end", callId: "1", name: "look" }));
    take(tell({ type: "approval-request", callId: "3", name: "look" }));
    expect(terminal.lines()).toEqual(["✗ 2 look  1.5 s"]);
    take(tell({ type: "run-end" }));
    expect(terminal.lines()).toEqual([]);
  });

  it("cuts the call and not its state at 20 columns", () => {
    const terminal = fakeTerminal(20);
    const calls = liveCalls(terminal.screen, { style: (_style, text) => text });
    calls.take(decided("1"), '1 look {"city":"天気は晴れです"}', "  ");
    expect(terminal.lines()).toEqual(["  · 1 loo…  waiting"]);
    calls.block.clear();
  });
});
