import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type Capability, env, exec, fs, llm, net, secret } from "../../src/tool/capability.ts";
import type {
  Exec,
  Fetch,
  Handles,
  HandlesOf,
  ReadFiles,
  Secret,
  WriteFiles,
} from "../../src/tool/handles.ts";
import { tool } from "../../src/tool/tool.ts";

const definition = { name: "t", description: "", inputSchema: z.object({}) } as const;

describe("the handles in a tool's context", () => {
  it("are those that were declared [T9, Y7.1]", () => {
    tool({
      ...definition,
      needs: [net("a.com"), env("CITY"), secret("KEY"), exec("git"), llm],
      execute: (_args, context) => {
        expectTypeOf(context.fetch).toEqualTypeOf<Fetch>();
        expectTypeOf(context.env).toEqualTypeOf<(name: string) => string | undefined>();
        expectTypeOf(context.secret("KEY")).toEqualTypeOf<Secret>();
        expectTypeOf(context.exec).toEqualTypeOf<Exec>();
        expectTypeOf(context.llm("x")).resolves.toEqualTypeOf<string>();
        // @ts-expect-error fs was not declared
        return context.fs;
      },
    });
  });

  it("and no others: what was not declared is an error of types", () => {
    tool({
      ...definition,
      needs: [net("a.com")],
      execute: (_args, context) => {
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        // @ts-expect-error env was not declared
        context.env("CITY");
        // @ts-expect-error exec was not declared
        return context.exec("git");
      },
    });
    tool({
      ...definition,
      execute: (_args, context) => {
        // @ts-expect-error nothing was declared
        return context.fetch("https://a.com");
      },
    });
  });

  it("have the half of the file system that was declared", () => {
    tool({
      ...definition,
      needs: [fs.read("/data")],
      execute: (_args, context) => {
        expectTypeOf(context.fs).toEqualTypeOf<ReadFiles>();
        // @ts-expect-error writing was not declared
        return context.fs.writeText("/data/x", "x");
      },
    });
    expectTypeOf<HandlesOf<readonly [Capability<"fs.read">, Capability<"fs.write">]>["fs"]>().toExtend<
      ReadFiles & WriteFiles
    >();
    expectTypeOf<HandlesOf<readonly [Capability<"fs.write">]>>().toEqualTypeOf<{ readonly fs: WriteFiles }>();
  });

  it("may each be missing when the needs are known at run time only", () => {
    const needs: readonly Capability[] = [net("a.com")];
    tool({
      ...definition,
      needs,
      execute: (_args, context) => expectTypeOf(context.fetch).toEqualTypeOf<Fetch | undefined>(),
    });
    expectTypeOf<HandlesOf<readonly Capability[]>>().toEqualTypeOf<Partial<Handles>>();
  });

  it("come from capabilities that know their kind", () => {
    expectTypeOf(net("a.com")).toEqualTypeOf<Capability<"net">>();
    expectTypeOf(fs.read("/a")).toEqualTypeOf<Capability<"fs.read">>();
    expectTypeOf(fs.write("/a")).toEqualTypeOf<Capability<"fs.write">>();
    expectTypeOf(llm).toEqualTypeOf<Capability<"llm">>();
  });
});
