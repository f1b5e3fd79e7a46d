import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { layoutOf } from "../../../../src/adapters/isolate/layout.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-layout-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["tools/weather", "data"]) mkdirSync(join(folder, name), { recursive: true });
const module = join(folder, "tools/weather/tool.mjs");
writeFileSync(module, "");
writeFileSync(join(folder, "data/a.json"), "");
symlinkSync(module, join(folder, "link.mjs"));

const layout = (files?: readonly (URL | string)[], of: URL | string = module): ReturnType<typeof layoutOf> =>
  layoutOf({ name: "weather", module: of, files });

describe("the files of a module in a box", () => {
  it("are its own folder when nothing else is said", () => {
    expect(layout()).toEqual({
      binds: [{ from: join(folder, "tools/weather"), to: "/tool/weather" }],
      inBox: "file:///tool/weather/tool.mjs",
      onHost: pathToFileURL(module).href,
    });
    expect(layout(undefined, pathToFileURL(module))).toEqual(layout());
    expect(layout(undefined, join(folder, "link.mjs"))).toEqual(layout()); // where the file is, not where the link is
  });

  it("stand to each other as on the host, and say nothing of it", () => {
    expect(layout([join(folder, "data")])).toEqual({
      binds: [
        { from: join(folder, "data"), to: "/tool/data" },
        { from: module, to: "/tool/tools/weather/tool.mjs" },
      ],
      inBox: "file:///tool/tools/weather/tool.mjs",
      onHost: pathToFileURL(module).href,
    });
    expect(layout([]).binds).toEqual([{ from: module, to: "/tool/tool.mjs" }]);
  });

  it("are bound once when one holds the other, or is listed twice", () => {
    const { binds } = layout([
      join(folder, "data"),
      join(folder, "data/a.json"),
      join(folder, "data"),
      module,
      module,
    ]);
    expect(binds.map(({ to }) => to)).toEqual(["/tool/data", "/tool/tools/weather/tool.mjs"]);
  });

  it("must be listed where the module's folder holds more", () => {
    for (const wide of [
      join(process.cwd(), "package.json"),
      join(process.cwd(), "../package.json"),
      homedir(),
    ]) {
      const around = (): unknown => layout(undefined, wide);
      expect(around).toThrow(/put the module into a folder of its own|there is no file/);
    }
    const listed = layout([], join(process.cwd(), "package.json"));
    expect(listed.binds.map(({ to }) => to)).toEqual(["/tool/package.json"]);
  });

  it("must be there", () => {
    expect(() => layout([join(folder, "not-there")])).toThrow("there is no file");
    expect(() => layout(undefined, "http://a.example/tool.mjs")).toThrow("there is no file");
  });
});
