import { createGoogle } from "@ai-sdk/google";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { callTool } from "../../src/doors.ts";
import { agent, type AgentEvent, inMemorySessions, session } from "../../src/index.ts";
import { fakeOpenai, scripted } from "../../src/testing.ts";
import { image } from "../../src/tools.ts";

const png = "iVBORw0KGgo=";
const picture = { type: "file", mediaType: "image/png", data: png };

/** A Gemini that answers every request with these parts, and how often it was asked. */
function gemini(...parts: object[]) {
  const bodies: string[] = [];
  const answer = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] };
  const fetch = (_: unknown, init?: { body?: unknown }): Promise<Response> => {
    bodies.push(String(init?.body));
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers }));
  };
  return { model: createGoogle({ apiKey: "k", fetch })("gemini-2.5-flash-image"), bodies };
}

describe("an answer that is a file", () => {
  it.each([
    ["a picture", "image/png", png],
    ["a sound", "audio/L16;codec=pcm;rate=24000", "AAAA"],
  ])("%s alone is an answer, and is asked for once", async (_, mimeType, data) => {
    const { model, bodies } = gemini({ inlineData: { mimeType, data } });
    const result = await agent({ name: "artist", model }).run("Draw a cat.");
    expect(result.outcome).toMatchObject({ type: "answered", content: "" });
    expect(result.text).toBe("");
    expect(result.output).toBe("");
    expect(result.files).toMatchObject([{ type: "file", mediaType: mimeType, data }]);
    expect(bodies).toHaveLength(1);
  });

  it("stands beside the words of an answer, as the part that the types promise", async () => {
    const { model } = gemini({ text: "A cat:" }, { inlineData: { mimeType: "image/png", data: png } });
    const { text, files, transcript } = await agent({ name: "artist", model }).run("Draw a cat.");
    expect([text, files]).toMatchObject(["A cat:", [picture]]);
    expect(transcript.messages.at(-1)).toMatchObject({ parts: [{ type: "text", text: "A cat:" }, picture] });
  });

  it("goes back to its provider in the next run of a session, and to others in words", async () => {
    const store = inMemorySessions();
    const { model, bodies } = gemini({ inlineData: { mimeType: "image/png", data: png } });
    const artist = agent({ name: "artist", model });
    await artist.run("Draw a cat.", { session: session(store, "s") });
    await artist.run("Greener.", { session: session(store, "s") });
    expect(JSON.parse(bodies[1] ?? "")).toMatchObject({
      contents: [
        { role: "user" },
        { role: "model", parts: [{ text: "[image: image/png, 8 bytes]" }, { inlineData: { data: png } }] },
        { role: "user", parts: [{ text: "Greener." }] },
      ],
    });
    await using openai = await fakeOpenai(["It was a cat."]);
    const other = openaiCompatible("gpt-5", { baseUrl: `${openai.url}/v1` });
    await agent({ name: "critic", model: other }).run("What was it?", { session: session(store, "s") });
    expect(openai.requests[0]?.body["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "[image: image/png, 8 bytes]" },
      {},
      { role: "assistant" },
      { role: "user" },
    ]);
    openai.assertComplete();
  });

  it("is told in events without its data, and given on by an agent that is a tool", async () => {
    const model = scripted([{ files: [image(png)] }]);
    const artist = agent({ name: "artist", description: "Draws", model });
    const events: AgentEvent[] = [];
    await artist.run("Draw.", { onEvent: (event) => void events.push(event) });
    expect(JSON.stringify(events)).not.toContain(png);
    expect(await callTool(artist.asTool(), { input: "Draw." })).toMatchObject({
      status: "ok",
      files: [picture],
    });
  });

  it("is no answer to who wants one of a form", async () => {
    const model = scripted([{ files: [image(png)] }, '{"name":"cat"}']);
    const namer = agent({ name: "namer", model, output: z.object({ name: z.string() }) });
    expect(await namer("Name it.")).toEqual({ name: "cat" });
    expect(model.requests).toHaveLength(2);
  });

  it("has none where a run did not answer, or said words alone", async () => {
    const { files } = await agent({ name: "talker", model: scripted(["Hi."]) }).run("Hi");
    expect(files).toEqual([]);
    const failed = await agent({ name: "mute", model: scripted([""]) }).run("Hi");
    expect([failed.outcome.type, failed.files]).toEqual(["failed", []]);
  });
});
