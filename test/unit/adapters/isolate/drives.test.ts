import type * as Path from "node:path";
import { expect, it, vi } from "vitest";
import { layoutOf } from "../../../../src/adapters/isolate/layout.ts";

vi.mock("node:path", async (original) => (await original<typeof Path>()).win32);
vi.mock("node:fs", () => ({
  realpathSync: (path: string) => path,
  statSync: () => ({ isFile: () => true }),
}));

it("takes files of two drives of Windows, which have no folder in common", () => {
  const { binds } = layoutOf({ name: "weather", module: "C:\\tool\\tool.mjs", files: ["D:\\data"] });
  expect(binds.map(({ from }) => from)).toEqual(["D:\\data", "C:\\tool\\tool.mjs"]);
});
