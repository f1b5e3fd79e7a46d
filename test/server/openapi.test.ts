import { expect, it } from "vitest";
import { ask, runsFile, serving, talker, told } from "./scene.ts";

it("describes what is answered: streams, nothing, and errors in the form of each client", async () => {
  const server = serving(runsFile(), { agents: [talker()] });
  const { paths } = (await told(ask(server, "GET /openapi.json"))) as unknown as {
    paths: Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
  };
  const types = (path: string, method: string) =>
    Object.entries(paths[path]?.[method]?.responses ?? {}).map(([status, { content = {} }]) =>
      [status, ...Object.keys(content)].join(" "),
    );
  const problem = "default application/problem+json";
  const events = "text/event-stream";
  expect(types("/runs", "post")).toEqual([`200 ${events}`, "201 application/json", problem]);
  expect(types("/runs/{id}/events", "get")).toEqual([`200 ${events}`, "204", problem]);
  expect(types("/chat/{agent}/{chat}/stream", "get")).toEqual([`200 ${events}`, "204", problem]);
  expect(types("/v1/responses", "post")).toEqual([
    `200 application/json ${events}`,
    "default application/json",
  ]);
  expect(types("/runs/{id}/settle", "post")).toEqual(["204", problem]);
  const started = await ask(server, "POST /runs", {
    body: { agent: "talker", input: "Hi" },
    headers: { authorization: "Bearer web-token", accept: events },
  });
  expect([started.status, started.headers.get("content-type")]).toEqual([200, events]);
  await started.body?.cancel();
});
