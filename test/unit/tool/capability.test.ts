import { describe, expect, it } from "vitest";
import {
  type Capability,
  capabilityText,
  covers,
  env,
  exactly,
  exec,
  fs,
  llm,
  net,
  parseCapabilities,
  parseCapability,
  readCapability,
  type Resource,
  resourceText,
  secret,
} from "../../../src/tool/capability.ts";

const refused = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    expect(error).toMatchObject({ name: "WritError", code: "capability-invalid" });
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
};
/** What a host, scheme and port are covered by. */
const place = (host: string, port = 443, protocol: "http:" | "https:" = "https:"): Resource => ({
  kind: "net",
  protocol,
  host,
  port,
});
const file = (path: string): Resource => ({ kind: "fs.read", path });

describe("what is no capability", () => {
  it.each([
    [null, "null"],
    [7, "number"],
    ["net", "net"],
  ])("is named: %o", (value, shown) => {
    expect(refused(() => readCapability(value))).toContain(shown);
  });
});

describe("net [Y11]", () => {
  it.each([
    ["api.x.com", "api.x.com"],
    ["API.X.com.", "api.x.com"],
    ["*.Weather.com", "*.weather.com"],
    ["*", "*"],
    ["*:8443", "*:8443"],
    ["https://api.x:443", "api.x"],
    ["api.x:8443", "api.x:8443"],
    ["http://127.0.0.1:18080", "http://127.0.0.1:18080"],
    ["HTTP://a.b:80", "http://a.b"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["*.bücher.de", "*.xn--bcher-kva.de"],
    // every spelling of one address is one scope
    ["2130706433", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
    ["[0:0:0:0:0:0:0:1]:80", "[::1]:80"],
  ])("reads %s as %s, and what it reads is canonical", (written, canonical) => {
    expect(net(written)).toEqual({ kind: "net", scope: canonical });
    expect(net(canonical).scope).toBe(canonical);
    expect(Object.isFrozen(net(written))).toBe(true);
  });

  it.each([
    ["", "missing"],
    ["*.com", "two parts"],
    ["*.localhost", "two parts"],
    ["*.", "not a host"],
    ["a*.x.com", "only before"],
    ["*.*.com", "only before"],
    ["x.*.com", "only before"],
    ["＊.com", "not a host"],
    ["*.0.0.1", "beneath an address"],
    ["user@h.com", "user name"],
    ["https://user:word@h.com", "user name"],
    ["ftp://x.y", "http and https"],
    ["file:///etc", "http and https"],
    ["x.y/", "not a path"],
    ["x.y/p?q#f", "not a path"],
    ["//evil.com", "not a path"],
    [String.raw`x\y`, "not a path"],
    ["a b", "not a host"],
    ["a\tb.com", "not a host"],
    ["a.com\n", "not a host"],
    ["a%2eb.com", "not a host"],
    ["a..b", "not a host"],
    [".com", "not a host"],
    ["foo.1", "not a host"],
    ["::1", "brackets"],
    ["[fe80::1%25eth0]", "not a host"],
    ["x.y:0", "65535"],
    ["x.y:65536", "65535"],
    ["x.y:", "not a host"],
    [`${"a".repeat(64)}.com`, "not a host"],
  ])("refuses %j", (written, reason) => {
    expect(refused(() => net(written))).toContain(reason);
  });

  it("covers exactly the host, beneath the suffix, and every public host", () => {
    const cases: readonly [Capability, Resource, boolean][] = [
      [net("api.x.com"), place("api.x.com"), true],
      [net("api.x.com"), place("evilapi.x.com"), false],
      [net("api.x.com"), place("api.x.com.evil.com"), false],
      [net("api.x.com"), place("api.x.com", 8443), false],
      [net("api.x.com"), place("api.x.com", 80, "http:"), false],
      [net("api.x.com"), place("api.x.com", 443, "http:"), false],
      [net("http://api.x.com"), place("api.x.com"), false],
      [net("*.x.com"), place("a.x.com"), true],
      [net("*.x.com"), place("a.b.x.com"), true],
      [net("*.x.com"), place("x.com"), false],
      [net("*.x.com"), place(".x.com"), false],
      [net("*.x.com"), place("evilx.com"), false],
      [net("*"), place("x.com"), true],
      [net("*"), place("93.184.216.34"), true],
      [net("*"), place("127.0.0.1"), false],
      [net("*"), place("[::ffff:7f00:1]"), false],
      [net("*"), place("localhost"), false],
      [net("*"), place("a.localhost"), false],
      [net("127.0.0.1"), place("127.0.0.1"), true],
      [net("127.0.0.1"), place("[::ffff:7f00:1]"), false],
      [net("[::1]"), place("[::1]"), true],
    ];
    for (const [capability, resource, expected] of cases)
      expect(covers(capability, resource), `${capabilityText(capability)} ${resourceText(resource)}`).toBe(
        expected,
      );
  });
});

describe("fs [Y11]", () => {
  it.each([
    ["/data", "/data"],
    ["/data/", "/data"],
    ["/data/**", "/data"],
    ["/**", "/"],
    ["//data//x/./y", "/data/x/y"],
    ["/a[b]{c}", "/a[b]{c}"],
    ["/ä ö", "/ä ö"],
    ["file:///data/x%20y", "/data/x y"],
  ])("reads %s as %s", (written, canonical) => {
    expect(fs.read(written)).toEqual({ kind: "fs.read", scope: canonical });
    expect(fs.write(written)).toEqual({ kind: "fs.write", scope: canonical });
    expect(fs.read(canonical).scope).toBe(canonical);
  });

  it("takes URLs", () => {
    expect(fs.read(new URL("file:///data/x")).scope).toBe("/data/x");
  });

  it.each([
    "",
    "data",
    "./data",
    "../data",
    "~/data",
    "/a/../b",
    "/a/..",
    "/a/*/b",
    "/a/**/b",
    "/a/*",
    "/a?",
    "/a/***",
    "/a\0b",
    "file:data",
    "file://host/x",
    "file:///a/../b",
    "file:///a/%2e%2E/b",
    "file:///a%2fb",
    "file:///a%00",
    "file:///a?b",
    String.raw`C:\data`,
    "https://x.com/data",
  ])("refuses %j", (written) => {
    refused(() => fs.read(written));
    refused(() => fs.write(written));
  });

  it.each([
    String.raw`C:\Users\Ada Lovelace`,
    "C:/Users",
    "d:",
    String.raw`\\server\share`,
    "file:///C:/Users",
  ])("says of %j that Windows has no grants of files and programs", (written) => {
    expect(refused(() => fs.read(written))).toContain(
      "of Windows cannot be granted: start your program in WSL",
    );
    if (!written.startsWith("file:")) expect(refused(() => exec(written))).toContain("of Windows");
  });

  it("covers the file itself and all beneath it, by whole names", () => {
    const data = fs.read("/data");
    expect(covers(data, file("/data"))).toBe(true);
    expect(covers(data, file("/data/a/b"))).toBe(true);
    expect(covers(data, file("/data2"))).toBe(false);
    expect(covers(data, file("/dat"))).toBe(false);
    expect(covers(data, file("/"))).toBe(false);
    expect(covers(data, { kind: "fs.write", path: "/data/a" })).toBe(false);
    expect(covers(fs.read("/"), file("/etc/passwd"))).toBe(true);
    // what is not resolved is beneath nothing
    for (const path of ["/data/../etc", "/data/./x", "/data//x", "/data/", "/data/x\0", "data/x"])
      expect(covers(data, file(path)), path).toBe(false);
  });

  it("reaches into the folders of the machine only when they are named", () => {
    for (const path of ["/proc/1/environ", "/sys/kernel", "/dev/sda", "/proc"]) {
      expect(covers(fs.read("/"), file(path)), path).toBe(false);
      expect(covers(fs.read("/data"), { ...file(path), roots: new Map([["/data", "/"]]) } as Resource)).toBe(
        false,
      );
    }
    expect(covers(fs.read("/proc/1"), file("/proc/1/environ"))).toBe(true);
    expect(covers(fs.read("/"), file("/process"))).toBe(true);
  });

  it("follows scopes to where they really lead, and nothing else", () => {
    const resource: Resource = {
      kind: "fs.read",
      path: "/mnt/data/x",
      roots: new Map([["/data", "/mnt/data"]]),
    };
    expect(covers(fs.read("/data"), resource)).toBe(true);
    expect(covers(fs.read("/mnt"), resource)).toBe(true);
    expect(covers(fs.read("/other"), resource)).toBe(false);
    expect(covers(fs.read("/data"), { ...resource, path: "/data/x" })).toBe(false);
  });
});

describe("names and programs [Y11]", () => {
  it("reads and covers variables and secrets", () => {
    expect(env("APP_*")).toEqual({ kind: "env", scope: "APP_*" });
    expect(covers(env("APP_*"), { kind: "env", name: "APP_KEY" })).toBe(true);
    expect(covers(env("APP_*"), { kind: "env", name: "APP" })).toBe(false);
    expect(covers(env("APP_*"), { kind: "env", name: "XAPP_KEY" })).toBe(false);
    expect(covers(env("APP_*"), { kind: "env", name: "APP_X=Y" })).toBe(false);
    expect(covers(env("KEY"), { kind: "env", name: "KEY2" })).toBe(false);
    expect(covers(env("KEY"), { kind: "secret", name: "KEY" })).toBe(false);
    expect(covers(secret("KEY"), { kind: "secret", name: "KEY" })).toBe(true);
    for (const name of ["", "X=Y", "__proto__", "a-b", "1A", "X ", "*", "A**", "X\0"]) {
      refused(() => env(name));
      refused(() => secret(name));
    }
    refused(() => env("__proto__*"));
    refused(() => secret("APP_*"));
  });

  it("reads and covers programs", () => {
    for (const name of ["git", "g++", "python3.11", "/usr/bin/git"]) expect(exec(name).scope).toBe(name);
    expect(exec("/usr//bin/./git").scope).toBe("/usr/bin/git");
    expect(covers(exec("git"), { kind: "exec", program: "git" })).toBe(true);
    expect(covers(exec("git"), { kind: "exec", program: "/usr/bin/git" })).toBe(false);
    expect(covers(exec("git"), { kind: "exec", program: "gitx" })).toBe(false);
    for (const name of [
      "",
      "./git",
      "bin/git",
      "-git",
      "git;ls",
      "git ls",
      "$(git)",
      "`git`",
      "git\nls",
      "*",
      "/",
      "/bin/",
      "..",
    ])
      refused(() => exec(name));
    refused(() => exec("/a/../b"));
    refused(() => exec("/bin/a|b"));
  });

  it("says llm without a scope", () => {
    expect(covers(llm, { kind: "llm" })).toBe(true);
    expect(capabilityText(llm)).toBe("llm");
  });
});

describe("on the command line [Y13]", () => {
  it("reads one, several and none", () => {
    expect(parseCapability("net=api.x.com")).toEqual(net("api.x.com"));
    expect(parseCapability("env=APP_*")).toEqual(env("APP_*"));
    expect(parseCapabilities("net=a.b, fs.read=/data,llm")).toEqual([net("a.b"), fs.read("/data"), llm]);
    expect(parseCapabilities("none")).toEqual([]);
  });

  it("refuses what is unknown, and names the kinds", () => {
    expect(refused(() => parseCapability("netz=x"))).toContain(
      "There are net, fs.read, fs.write, env, secret, exec, llm.",
    );
    for (const text of ["", "net", "=x", "llm=x", "llm=", "constructor=x", "__proto__=x", "net=", "NET=x"])
      refused(() => parseCapability(text));
    for (const text of ["", "net=a.b,", "net=a.b,none", ","]) refused(() => parseCapabilities(text));
  });
});

describe("what others call a capability", () => {
  it("is read again, canonical", () => {
    expect(readCapability({ kind: "net", scope: "API.x.com" })).toEqual(net("api.x.com"));
    expect(readCapability(llm)).toEqual(llm);
    const wrong = [null, undefined, "net", 1, [], {}, { kind: "net" }, { kind: "net", scope: 1 }];
    for (const value of [...wrong, { kind: "x", scope: "" }, { kind: "net", scope: "*.com" }])
      refused(() => readCapability(value));
  });

  it("covers nothing that a canonical one would not", () => {
    const forged: readonly [Capability, Resource][] = [
      [{ kind: "net", scope: "*.com" }, place("evil.com")],
      [{ kind: "net", scope: "x.com/" }, place("x.com")],
      [{ kind: "net", scope: "" }, place("")],
      [{ kind: "fs.read", scope: "" }, file("/etc")],
      [{ kind: "fs.read", scope: "/data/.." }, file("/etc")],
      [
        { kind: "secret", scope: "A=B" },
        { kind: "secret", name: "A=B" },
      ],
      [
        { kind: "exec", scope: "a b" },
        { kind: "exec", program: "a b" },
      ],
    ];
    for (const [capability, resource] of forged) expect(covers(capability, resource)).toBe(false);
  });
});

describe("texts", () => {
  it("say a resource as the capability that covers just it", () => {
    const resources: readonly [Resource, string][] = [
      [place("api.x.com"), "net(api.x.com)"],
      [place("127.0.0.1", 18_080, "http:"), "net(http://127.0.0.1:18080)"],
      [file("/data/x"), "fs.read(/data/x)"],
      [{ kind: "env", name: "CITY" }, "env(CITY)"],
      [{ kind: "exec", program: "git" }, "exec(git)"],
      [{ kind: "llm" }, "llm"],
    ];
    for (const [resource, text] of resources) {
      expect(resourceText(resource)).toBe(text);
      expect(covers(exactly(resource), resource)).toBe(true);
      expect(readCapability(exactly(resource))).toEqual(exactly(resource));
    }
  });
});
