import { describe, expect, it } from "vitest";
import { z } from "zod";
import { plainTurns } from "../../src/adapters/model/llama-cpp-prompt.ts";
import {
  addUser,
  call,
  callTool,
  loop,
  readTranscript,
  type ToolResult,
  userMessage,
} from "../../src/doors.ts";
import { agent, type AgentEvent, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { file, image, labelled, withFiles } from "../../src/tools.ts";

const png = "iVBORw0KGgo=";
const picture = { type: "file", mediaType: "image/png", data: png };

/** A tool that gives this, and does not look at its arguments. */
function giving(result: unknown, more: object = {}) {
  return tool({
    name: "look",
    description: "Look",
    inputSchema: z.object({}),
    effect: "read",
    execute: () => result,
    ...more,
  });
}

const called = [{ calls: [{ name: "look", arguments: {} }] }, "Seen."];

describe("files that tools give", () => {
  it.each([
    ["a picture alone", image(png), { text: "[image: image/png, 8 bytes]", files: [picture] }],
    [
      "a list of texts and files",
      ["Before:", image(png), { type: "text", text: "and a bill:" }, file("aGk=", "application/pdf")],
      {
        text: "Before:\n[image: image/png, 8 bytes]\nand a bill:\n[file: application/pdf, 2 bytes]",
        files: [picture, { type: "file", mediaType: "application/pdf", data: "aGk=" }],
      },
    ],
    [
      "a value with files beside it",
      withFiles({ at: "08:30" }, [image(png)]),
      { text: '{"at":"08:30"}\n[image: image/png, 8 bytes]', value: { at: "08:30" }, files: [picture] },
    ],
    [
      "a file that stands elsewhere",
      image("https://example.com/a.jpg"),
      { text: "[image: image/jpeg, https://example.com/a.jpg]" },
    ],
    ["a list without files, as JSON", ["a", "b"], { text: '["a","b"]', value: ["a", "b"] }],
  ])("are told part by part: %s [T10]", async (_, given, expected) => {
    expect(await callTool(giving(given), {})).toMatchObject({ status: "ok", ...expected });
  });

  it("are no value, so that nothing writes them as JSON", async () => {
    const result = await callTool(giving([image(png)]), {});
    expect(result).not.toHaveProperty("value");
    expect(result.text).not.toContain(png);
  });

  it("cannot stand among other things: the author is told what to write", async () => {
    const result = await callTool(giving([{ name: "a" }, image(png)]), {});
    expect(result).toMatchObject({
      status: "error",
      note: expect.stringContaining("withFiles(value, files)") as string,
    });
  });

  it("leave the output schema and the types of results as they are", async () => {
    const photo = tool({
      name: "photo",
      description: "Take a photo",
      inputSchema: z.object({}),
      outputSchema: z.object({ at: z.string() }),
      execute: () => withFiles({ at: "08:30" }, [image(png)]),
    });
    const { at }: { at: string } = await call(photo, {});
    expect(at).toBe("08:30");
    expect(await callTool(photo, {})).toMatchObject({ value: { at: "08:30" }, files: [picture] });
    const wrong = giving(withFiles({ at: 8 }, [image(png)]), { outputSchema: z.object({ at: z.string() }) });
    const refused = await callTool(wrong, {});
    expect(refused.status).toBe("error");
    expect(refused.files).toBeUndefined();
  });

  it("keep their label, and stand in the transcript as JSON, one result a call", async () => {
    const own = giving(labelled(image(png), { integrity: "trusted" }));
    const { transcript, label } = await agent({ name: "viewer", model: scripted(called), tools: [own] }).run(
      "Look.",
    );
    expect(label.integrity).toBe("trusted");
    const kept = JSON.parse(JSON.stringify(transcript)) as ReturnType<typeof transcript.toJSON>;
    const result = readTranscript(kept).messages.filter(({ role }) => role === "tool");
    expect(result).toMatchObject([{ status: "ok", files: [picture] }]);
    const strange = await agent({ name: "viewer", model: scripted(called), tools: [giving(image(png))] }).run(
      "Look.",
    );
    expect(strange.label).toMatchObject({ integrity: "untrusted", sources: ["tool/look"] });
  });

  it("are left out in words for a model that is told of tools in text, and for the embedded one", async () => {
    const left = "[image: image/png, 8 bytes]\n(A file is left out: you cannot see it.)";
    for (const driver of ["json", "react", "lines", "pythonic", "select"] as const) {
      const model = scripted(["x"]);
      const transcript = await agent({ name: "viewer", model: scripted(called), tools: [giving(image(png))] })
        .run("Look.")
        .then((run) => run.transcript);
      const again = addUser(transcript, userMessage("Again."));
      const looping = { model, tools: [giving(image(png))], driver, budget: { turns: 1 }, transcript: again };
      for await (const _ of loop(looping)) void _;
      const told = JSON.stringify(model.requests[0]);
      expect(told, driver).toMatch(/image: image\/png, 8 bytes.*left out/);
      expect(told, driver).not.toContain(png);
    }
    const result = {
      role: "tool",
      callId: "a",
      name: "look",
      ...(await callTool(giving(image(png)), {})),
    } as const;
    expect(plainTurns([result], "m")).toEqual([{ role: "user", text: left }]);
  });

  it("count with their bytes against `resultBytes`: what does not fit is left out, and the model is told", async () => {
    const small = image(png);
    const large = image("iVBORw0KGgo".padEnd(4000, "A"));
    const watcher = agent({
      name: "watcher",
      model: scripted(called),
      tools: [giving(["Two:", large, small])],
      budget: { resultBytes: 1000 },
    });
    const { transcript } = await watcher.run("Look.");
    const result = transcript.messages.find((message) => message.role === "tool");
    expect(result).toMatchObject({ files: [picture] });
    expect(result).toMatchObject({
      text: expect.stringMatching(/\[left out: 1 of 2 files, too long\]$/) as string,
    });
  });

  it("have 20 MB by default", async () => {
    const megabytes = (count: number): unknown => image("iVBORw0KGgoA".padEnd(count * 1_333_336, "A"));
    const watcher = agent({
      name: "watcher",
      model: scripted(called),
      tools: [giving([megabytes(15), megabytes(6)])],
    });
    const { transcript } = await watcher.run("Look.");
    const result = transcript.messages.find((message) => message.role === "tool");
    expect(result?.role === "tool" && result.files?.length).toBe(1);
    expect(result).toMatchObject({
      text: expect.stringMatching(/\[left out: 1 of 2 files, too long\]$/) as string,
    });
  });

  it("are told in events with their type and size, without their data", async () => {
    const events: AgentEvent[] = [];
    await agent({ name: "viewer", model: scripted(called), tools: [giving(image(png))] }).run("Look.", {
      onEvent: (event) => void events.push(event),
    });
    expect(JSON.stringify(events)).not.toContain(png);
    expect(events.find(({ type }) => type === "tool-end")).toMatchObject({
      result: { files: [{ type: "file", mediaType: "image/png", data: "", bytes: 8 }] },
    });
  });

  it("are seen by hooks, which may take them out", async () => {
    const seen: ToolResult[] = [];
    const blind = agent({
      name: "blind",
      model: scripted(called),
      tools: [giving(image(png))],
      hooks: [
        {
          name: "no pictures",
          afterToolCall: ({ result }) => {
            seen.push(result);
            return { result: { status: "ok", text: "(a picture)" } };
          },
        },
      ],
    });
    const { transcript } = await blind.run("Look.");
    expect(seen).toMatchObject([{ files: [picture] }]);
    const told = transcript.messages.find((message) => message.role === "tool");
    expect(told).toMatchObject({ text: "(a picture)" });
    expect(told).not.toHaveProperty("files");
  });
});

describe("image() and file()", () => {
  it("take bytes, base64, addresses and data: URLs", () => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    expect(image(bytes)).toEqual(picture);
    expect(image(bytes.buffer)).toEqual(picture);
    expect(image(`data:image/png;base64,${png}`).mediaType).toBe("image/png");
    expect(image(new URL("https://example.com/a.webp")).mediaType).toBe("image/webp");
    expect(image("https://example.com/picture")).toMatchObject({ mediaType: "image/*" });
    expect(image("/9j/4AAQ").mediaType).toBe("image/jpeg");
    const long = new Uint8Array(100_000).map((_, index) => index % 251);
    expect(file(long, "application/pdf").data).toBe(Buffer.from(long).toString("base64"));
  });

  it.each([
    ["Image/PNG", "image/png"],
    ["text/html; charset=UTF-8", "text/html"],
    ["audio/L16; codec=pcm; rate=24000", "audio/l16;codec=pcm;rate=24000"],
    [" application/pdf ", "application/pdf"],
  ])("take the media type %o, as servers write it in a header", (given, mediaType) => {
    expect(file("aGk=", given).mediaType).toBe(mediaType);
  });

  it.each([
    [() => image("aGk="), /nothing says what it is/],
    [() => image(""), /not empty/],
    [() => image(undefined as never), /`data` is bytes/],
    [() => image("/home/me/cat picture.png!"), /`data` is bytes/],
    [() => file("aGk=", "pdf"), /"pdf" is no media type/],
    [() => image("https://box/a", 10n as never), /a bigint is no media type/],
    [() => withFiles("a", ["b"] as never), /`files` is a list/],
  ])("refuse what is no file", (make, reason) => {
    expect(make).toThrow(reason);
  });
});
