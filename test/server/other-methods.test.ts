import { describe, expect, it } from "vitest";
import { ask, runsFile, serving, talker, told } from "./scene.ts";

describe("a request whose path was taken away before it came", () => {
  it("is told where all of the server stands", async () => {
    const server = serving(runsFile(), { agents: [talker()], path: "/agents", work: false });
    const problem = await told(ask(server, "POST /chat/talker")); // as after app.use("/agents", …) of Express
    expect(problem).toMatchObject({
      status: 404,
      detail: expect.stringMatching(/below its `path`, \/agents/),
    });
    const inside = await told(ask(server, "POST /agents/chatt/talker"));
    expect(inside).toMatchObject({ status: 404, detail: "There is no route POST /agents/chatt/talker." });
  });
});

describe("another method at a path that is there", () => {
  it("is 405, and says which methods are taken, at each path of the description", async () => {
    const server = serving(runsFile(), { agents: [talker()], path: "/agents", work: false });
    const { paths } = JSON.parse(await (await ask(server, "GET /agents/openapi.json")).text());
    expect(Object.keys(paths).length).toBeGreaterThan(20);
    for (const [path, methods] of Object.entries<object>(paths)) {
      const taken = Object.keys(methods).flatMap((one) =>
        one === "get" ? ["GET", "HEAD"] : [one.toUpperCase()],
      );
      for (const method of ["PUT", "PATCH", "DELETE", "POST", "GET", "HEAD"]) {
        if (taken.includes(method)) continue;
        const refused = await ask(server, `${method} /agents${path.replaceAll(/[{}]/g, "")}`, {
          headers: {},
        });
        expect([path, method, refused.status]).toEqual([path, method, 405]);
        const allow = refused.headers.get("allow")?.split(", ") ?? [];
        expect(allow.toSorted()).toEqual([...taken, "OPTIONS"].toSorted());
      }
      const asked = await ask(server, `OPTIONS /agents${path.replaceAll(/[{}]/g, "")}`, { headers: {} });
      expect([asked.status, asked.headers.get("allow")?.includes("OPTIONS")]).toEqual([204, true]);
    }
  });

  it("is told in the form of the protocol", async () => {
    const server = serving(runsFile(), { agents: [talker()], work: false });
    const problem = await told(ask(server, "PUT /runs/a"));
    expect(problem).toMatchObject({
      status: 405,
      code: "request-method",
      detail: "/runs/a does not take PUT. It takes GET, HEAD, DELETE, OPTIONS.",
    });
    const openAi = await ask(server, "GET /v1/chat/completions");
    expect([openAi.status, openAi.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(await openAi.json()).toMatchObject({
      error: { code: "request-method", type: "invalid_request_error" },
    });
    const nowhere = await ask(server, "PUT /nowhere");
    expect([nowhere.status, nowhere.headers.get("allow")]).toEqual([404, null]);
  });
});
