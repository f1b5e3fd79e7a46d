import { execFileSync, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { boxes } from "../../../../src/adapters/isolate/bubblewrap.ts";
import { execute as tryCanaries } from "../../../../src/adapters/isolate/child/canaries.ts";
import { boxArguments, findBwrap } from "../../../../src/adapters/isolate/launch.ts";
import { librariesOf, nodeFiles } from "../../../../src/adapters/isolate/node-files.ts";
import { systemCallFilter } from "../../../../src/adapters/isolate/seccomp.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-boxes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const works = await boxes();
if (!works.works) console.log(`boxes are not tested: ${works.reason}`);

/** The canaries once more, as if bubblewrap were this script; `"$@"` are the arguments it would get. */
async function boxesOf(script: string): ReturnType<typeof boxes> {
  const bwrap = join(folder, "bwrap");
  writeFileSync(bwrap, `#!/bin/sh\n${script}\n`);
  chmodSync(bwrap, 0o755);
  vi.resetModules();
  vi.doMock("../../../../src/adapters/isolate/launch.ts", async (original) => ({
    ...(await original<Record<string, unknown>>()),
    findBwrap: () => bwrap,
  }));
  const { boxes: again } = await import("../../../../src/adapters/isolate/bubblewrap.ts");
  vi.doUnmock("../../../../src/adapters/isolate/launch.ts");
  return again();
}

describe("the canaries", () => {
  it("all get through where nothing holds them", async () => {
    const tcp = createServer().listen(0, "127.0.0.1");
    const unix = createServer().listen(join(folder, "socket"));
    const udp = createSocket("udp4").bind(0, "127.0.0.1");
    await Promise.all([once(tcp, "listening"), once(unix, "listening"), once(udp, "listening")]);
    writeFileSync(join(folder, "secret"), "canary");
    symlinkSync(join(folder, "secret"), join(folder, "link"));
    const tcpPort = (tcp.address() as { readonly port: number }).port;
    const found = await tryCanaries({
      secretFile: join(folder, "secret"),
      secret: "canary",
      link: join(folder, "link"),
      newFile: join(folder, "new"),
      newDatabase: join(folder, "database"),
      tcpPort,
      udpPort: udp.address().port,
      unixSockets: [join(folder, "socket")],
      parentPid: process.ppid,
    });
    for (const server of [tcp, unix, udp]) server.close();
    expect(found.filter(({ held }) => held)).toEqual([]);
    expect(found.length).toBeGreaterThan(9);
  });

  it.skipIf(!works.works)("are held by a box, and one that is not makes the box worth nothing", async () => {
    expect(works.probes.every(({ held }) => held)).toBe(true);
    const leaky = await boxesOf(`for a in "$@"; do shift
      [ "$a" = "--" ] && set -- "$@" --setenv LEAK 1 --bind ${tmpdir()} ${tmpdir()}
      set -- "$@" "$a"; done; exec ${String(findBwrap())} "$@"`);
    const reason = leaky.works ? "it works" : leaky.reason;
    expect(reason).toContain("its box does not hold: read outside");
    expect(reason).toContain("environment variables");
  });

  it("do not run where bubblewrap fails, which is told", async () => {
    const failing = await boxesOf('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
    expect(failing).toEqual({
      works: false,
      probes: [],
      reason: expect.stringMatching(/bubblewrap makes no box here: .*exit code 1.*Permission denied/),
    });
  });
});

describe("the filter of system calls", () => {
  const [clone, thread] = [56, 0x10000];

  /** What the filter gives for a call, as the kernel would work it out. */
  function judge(number: number, { flags = 0, audit = 0xc000003e, arch = "x64" } = {}): string {
    const program = systemCallFilter(arch) ?? Buffer.alloc(0);
    const data = new Map([
      [0, number],
      [4, audit],
      [16, flags],
    ]);
    let value = 0;
    for (let at = 0; at < program.length / 8; at += 1) {
      const code = program.readUInt16LE(at * 8);
      const operand = program.readUInt32LE(at * 8 + 4);
      const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
      if (code === 0x20) value = data.get(operand) ?? -1;
      else if (code === 0x06) return words.get(operand) ?? operand.toString(16);
      else {
        const isTrue =
          code === 0x15 ? value === operand : code === 0x35 ? value >= operand : (value & operand) !== 0;
        at += isTrue ? ifTrue : ifFalse;
      }
    }
    return "nothing";
  }
  const words = new Map([
    [0x7fff0000, "allowed"],
    [0x80000000, "killed"],
    [0x50001, "EPERM"],
    [0x50026, "ENOSYS"],
  ]);

  it("lets threads be made, but no process, no socket, and no door into the kernel", () => {
    expect(judge(clone, { flags: thread | 0x3d0f00 })).toBe("allowed");
    expect(judge(clone, { flags: 0x1200011 })).toBe("EPERM");
    expect(judge(435)).toBe("ENOSYS"); // clone3
    for (const number of [57, 58, 41, 53, 101, 272, 165, 250, 321, 425, 322])
      expect(judge(number)).toBe("EPERM");
    for (const number of [0, 1, 9, 59, 60, 202, 257, 318]) expect(judge(number)).toBe("allowed");
  });

  /** The calls that are refused, by their numbers in the kernel's tables of x64 and of arm64. */
  const refused: Readonly<Record<string, readonly [x64: number, arm64?: number]>> = {
    socket: [41, 198],
    socketpair: [53, 199],
    fork: [57],
    vfork: [58],
    ptrace: [101, 117],
    processVmReadv: [310, 270],
    processVmWritev: [311, 271],
    kcmp: [312, 272],
    pidfdGetfd: [438, 438],
    mount: [165, 40],
    umount2: [166, 39],
    pivotRoot: [155, 41],
    chroot: [161, 51],
    unshare: [272, 97],
    setns: [308, 268],
    openTree: [428, 428],
    moveMount: [429, 429],
    fsopen: [430, 430],
    fsconfig: [431, 431],
    fsmount: [432, 432],
    fspick: [433, 433],
    mountSetattr: [442, 442],
    addKey: [248, 217],
    requestKey: [249, 218],
    keyctl: [250, 219],
    bpf: [321, 280],
    perfEventOpen: [298, 241],
    userfaultfd: [323, 282],
    ioUringSetup: [425, 425],
    ioUringEnter: [426, 426],
    ioUringRegister: [427, 427],
    initModule: [175, 105],
    deleteModule: [176, 106],
    finitModule: [313, 273],
    kexecLoad: [246, 104],
    kexecFileLoad: [320, 294],
    reboot: [169, 142],
    swapon: [167, 224],
    swapoff: [168, 225],
    acct: [163, 89],
    quotactl: [179, 60],
    openByHandleAt: [304, 265],
    execveat: [322, 281],
  };

  it("refuses these calls and no others, on both machines", () => {
    const known = Array.from({ length: 460 }, (_, number) => number);
    const [x64, arm64] = [0, 1].map((machine) =>
      Object.values(refused).flatMap((numbers) => numbers[machine] ?? []),
    );
    const arm = { arch: "arm64", audit: 0xc00000b7 };
    const isFree = (number: number): boolean => number !== clone && number !== 220 && number !== 435;
    expect(known.filter((number) => isFree(number) && judge(number) !== "allowed")).toEqual(
      x64?.toSorted((a, b) => a - b),
    );
    expect(known.filter((number) => isFree(number) && judge(number, arm) !== "allowed")).toEqual(
      arm64?.toSorted((a, b) => a - b),
    );
  });

  it("ends what calls the kernel by another table of numbers", () => {
    expect(judge(57, { audit: 0x40000003 })).toBe("killed");
    expect(judge(0x40000000 + 57)).toBe("EPERM");
    const arm = { arch: "arm64", audit: 0xc00000b7 };
    expect(judge(220, { ...arm, flags: 0x11 })).toBe("EPERM");
    expect(judge(220, { ...arm, flags: thread })).toBe("allowed");
    for (const number of [198, 117, 97, 40, 219, 425, 281]) expect(judge(number, arm)).toBe("EPERM");
    for (const number of [56, 63, 64, 221, 93]) expect(judge(number, arm)).toBe("allowed");
    expect(systemCallFilter("mips")).toBeUndefined();
  });

  it.skipIf(!works.works || systemCallFilter() === undefined)("holds without Node's permissions", () => {
    const file = join(folder, "filter");
    writeFileSync(file, systemCallFilter() ?? "");
    const code = `
      const { spawnSync } = require("node:child_process");
      const { Worker } = require("node:worker_threads");
      const net = require("node:net");
      const spawned = spawnSync(process.execPath, ["-v"]).error?.code;
      const socket = net.connect(1, "127.0.0.1").on("error", ({ code }) =>
        new Worker("", { eval: true }).on("exit", (exit) => console.log(JSON.stringify([spawned, code, exit]))));`;
    const args = [...boxArguments(nodeFiles()), "--seccomp", "3", "--", "/box/node", "-e", code];
    const { stdout, stderr } = spawnSync(String(findBwrap()), args, {
      stdio: ["ignore", "pipe", "pipe", openSync(file, "r")],
      encoding: "utf8",
      env: {},
    });
    expect(stdout, stderr).toBe('["EPERM","EPERM",0]\n');
  });
});

describe("the files of Node", () => {
  it("are its program and what its loader names", () => {
    const list = [
      "\tlinux-vdso.so.1 (0x00007ffea69fc000)",
      "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007efea6906000)",
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007efea69fe000)",
      "\tlibgone.so => not found",
    ];
    expect(librariesOf(list.join("\n")).map(({ to }) => to)).toEqual([
      "/lib/x86_64-linux-gnu/libm.so.6",
      "/lib64/ld-linux-x86-64.so.2",
    ]);
    expect(librariesOf("v24.0.0")).toEqual([]);
    expect(nodeFiles()[0]?.to).toBe("/box/node");
  });

  it.skipIf(!works.works)("start it in a box where there is nothing else", () => {
    const code =
      'console.log(require("node:fs").readdirSync("/").join(" "), Object.keys(process.env).join(" "))';
    const args = [...boxArguments(nodeFiles()), "--", "/box/node", "-e", code];
    const printed = execFileSync(String(findBwrap()), args, { encoding: "utf8", env: { SECRET: "1" } });
    expect(
      printed
        .trim()
        .split(" ")
        .filter((name) => !/^(lib|lib64|usr)$/.test(name)),
    ).toEqual(["box", "dev", "proc", "tmp", "PWD"]);
  });
});
