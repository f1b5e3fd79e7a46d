import type { Capability, CapabilityKind } from "./capability.ts";

/** A value for a header or an environment variable of a program: it can be neither read nor printed. */
export interface Secret {
  readonly name: string;
  /** `[secret NAME]`, also in JSON and when inspected. */
  toString(): string;
  toJSON(): string;
}

/** Options of a request. */
export interface FetchOptions {
  readonly method?: string;
  /** A secret stands here as itself, or as a part of a list that is joined, like `["Bearer ", key]`. It is dropped at a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string | Secret | readonly (string | Secret)[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Most bytes of the answer that are read before it fails. Default 10,000,000. */
  readonly maxBytes?: number;
}

/** Sends a request to a host that was declared and granted. Redirects are followed by hand, at most five, each judged like the first. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Response>;

/** A name in a folder. */
export interface DirectoryEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "other";
}

/** A part of a file. */
export interface ByteRange {
  /** The first byte, counted from 0. */
  readonly from: number;
  /** The most bytes; at the end of the file there are fewer, behind it none. */
  readonly bytes: number;
}

/** Reads regular files and folders beneath what was declared and granted. */
export interface ReadFiles {
  readText(path: string): Promise<string>;
  /** The whole file, or a part of it; only parts can be read of a file over 100,000,000 bytes. */
  readBytes(path: string, part?: ByteRange): Promise<Uint8Array>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Undefined when there is nothing. */
  stat(
    path: string,
  ): Promise<
    { readonly type: DirectoryEntry["type"]; readonly bytes: number; readonly modifiedMs: number } | undefined
  >;
}

/** Writes regular files beneath what was declared and granted. */
export interface WriteFiles {
  /** Creates the file, or replaces what it holds; folders between are not made. */
  writeText(path: string, text: string): Promise<void>;
  writeBytes(path: string, bytes: Uint8Array): Promise<void>;
  appendText(path: string, text: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** A file, or an empty folder. */
  remove(path: string): Promise<void>;
}

/** Options of a program's run. */
export interface ExecOptions {
  /** The working folder: beneath what the tool may read. Default: a new empty folder, removed afterwards. */
  readonly cwd?: string;
  /** Added to an environment that is otherwise empty but for PATH, HOME (an empty folder) and LANG. Names that change how programs are loaded are refused. */
  readonly env?: Readonly<Record<string, string | Secret>>;
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** The most bytes of each output that are kept. Default 1,000,000. */
  readonly maxBytes?: number;
  /**
   * The effect of `timeoutMs` and `maxBytes`. `fail`: the program is stopped, and the call fails. `cut`: the
   * end of the time stops it, and what it printed until then is given; of a longer output the middle is left
   * out, until there are 64 times as many bytes. Default `fail`.
   */
  readonly onLimit?: "fail" | "cut";
}

/** The end of a program. */
export interface ExecResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The limit that ended a program under `onLimit: "cut"`. */
  readonly stoppedBy?: "time" | "output";
  /**
   * The bytes that were left out of both outputs under `onLimit: "cut"`; a line in their place tells them.
   */
  readonly leftOutBytes?: number;
}

/** Runs a program with arguments as a list; no shell reads them. */
export type Exec = (program: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

/** Everything that a tool's context can hold beside the call itself. */
export interface Handles {
  readonly fetch: Fetch;
  readonly fs: ReadFiles & WriteFiles;
  /** The value of a variable; undefined when it is not set. */
  readonly env: (name: string) => string | undefined;
  /** @throws WritError `secret-missing` when there is no such secret. */
  readonly secret: (name: string) => Secret;
  readonly exec: Exec;
  /** Asks the run's model once, without tools. Its words are as untrusted as what they were asked with. */
  readonly llm: (prompt: string) => Promise<string>;
}

interface HandleOf {
  readonly net: Pick<Handles, "fetch">;
  readonly "fs.read": { readonly fs: ReadFiles };
  readonly "fs.write": { readonly fs: WriteFiles };
  readonly env: Pick<Handles, "env">;
  readonly secret: Pick<Handles, "secret">;
  readonly exec: Pick<Handles, "exec">;
  readonly llm: Pick<Handles, "llm">;
}

type Together<Union> = (Union extends unknown ? (part: Union) => void : never) extends (
  whole: infer Whole,
) => void
  ? Whole
  : never;

/** The handles of these needs, and no others. Of needs that are only known at run time each handle may be missing. */
export type HandlesOf<Needs extends readonly Capability[]> = Needs extends readonly []
  ? unknown
  : CapabilityKind extends Needs[number]["kind"]
    ? Partial<Handles>
    : Together<HandleOf[Needs[number]["kind"]]>;

/** One look at whether a resource may be used: told as `capability-checked`. */
export interface AccessRecord {
  /** `net(api.weather.com)`; never a value. */
  readonly resource: string;
  readonly granted: boolean;
  /** The reason for a no. */
  readonly reason?: string;
}
