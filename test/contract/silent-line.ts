import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a port of this machine, as through a firewall. */
export interface SilentLine {
  readonly port: number;
  /** From now on nothing comes over the connections that there are, and nobody is told. Those that are made later work. */
  silence(this: void): void;
  /** The next words of the far end are lost, and their connection breaks. */
  loseReply(this: void): void;
  close(this: void): void;
}

/** Opens a way to a port. */
export async function silentLine(port: number): Promise<SilentLine> {
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  let isLosing = false;
  const line = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    far.on("data", () => {
      if (!isLosing) return;
      isLosing = false;
      near.destroy();
      far.destroy();
    });
    pairs.add([near, far]);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => undefined); // its end follows
      from.on("close", () => void to.destroy());
      from.pipe(to);
    }
  });
  line.listen(0, "127.0.0.1");
  await once(line, "listening");
  return {
    port: (line.address() as AddressInfo).port,
    silence() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    loseReply() {
      isLosing = true;
    },
    close() {
      line.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}
