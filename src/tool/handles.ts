import type { Capability, CapabilityKind } from "./capability.ts";

/** A value for a header, or for an environment variable of a program, that can be neither read nor printed. */
export interface Secret {
  readonly name: string;
  /** `[secret NAME]`, also in JSON and when inspected. */
  toString(): string;
  toJSON(): string;
}

/** Options of a request. */
export interface FetchOptions {
  readonly method?: string;
  /** Header values. A secret is passed as it is, or as part of a list that is joined: `["Bearer ", key]`. It is dropped at a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string | Secret | readonly (string | Secret)[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** The most bytes of the answer; reading more fails. Default 10,000,000. */
  readonly maxBytes?: number;
}

/** Sends a request to a host that was declared and granted. Redirects are followed one by one, at most five, each checked like the first request. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Response>;

/** An entry of a folder. */
export interface DirectoryEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "other";
}

/** A part of a file. */
export interface ByteRange {
  /** The first byte, counted from 0. */
  readonly from: number;
  /** The most bytes; fewer at the end of the file, none after it. */
  readonly bytes: number;
}

/** Reads regular files and folders that were declared and granted. */
export interface ReadFiles {
  readText(path: string): Promise<string>;
  /** Reads the whole file, or a part of it; a file over 100,000,000 bytes can only be read in parts. */
  readBytes(path: string, part?: ByteRange): Promise<Uint8Array>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Undefined if there is nothing at the path. */
  stat(
    path: string,
  ): Promise<
    { readonly type: DirectoryEntry["type"]; readonly bytes: number; readonly modifiedMs: number } | undefined
  >;
}

/** Writes regular files that were declared and granted. */
export interface WriteFiles {
  /** Creates the file, or replaces its content; missing folders are not made. */
  writeText(path: string, text: string): Promise<void>;
  writeBytes(path: string, bytes: Uint8Array): Promise<void>;
  appendText(path: string, text: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Removes a file, or an empty folder. */
  remove(path: string): Promise<void>;
}

/** Options of a program's run. */
export interface ExecOptions {
  /** The working folder: one that the tool may read. Default: a new empty folder, removed afterwards. */
  readonly cwd?: string;
  /** Variables added to an environment with only PATH, HOME (an empty folder) and LANG. Names that change how programs are loaded are refused. */
  readonly env?: Readonly<Record<string, string | Secret>>;
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** The most bytes of each output that are kept. Default 1,000,000. */
  readonly maxBytes?: number;
  /**
   * The effect of `timeoutMs` and `maxBytes`. `fail`: the program is stopped, and the call fails. `cut`: at the
   * end of the time the program is stopped, and its output so far is returned; the middle of a longer output is left
   * out, up to 64 times as many bytes. Default `fail`.
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
   * The bytes left out of both outputs under `onLimit: "cut"`; a line in their place says so.
   */
  readonly leftOutBytes?: number;
}

/** Runs a program with a list of arguments, which no shell reads. */
export type Exec = (program: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

/** Everything that a tool's context can have beside the call itself. */
export interface Handles {
  readonly fetch: Fetch;
  readonly fs: ReadFiles & WriteFiles;
  /** The value of a variable; undefined if it is not set. */
  readonly env: (name: string) => string | undefined;
  /** @throws WritError `secret-missing` if there is no such secret */
  readonly secret: (name: string) => Secret;
  readonly exec: Exec;
  /** Asks the run's model once, without tools. The answer is as untrusted as the prompt. */
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

/** The handles for these needs, and no others. For needs that are only known at run time, any handle may be missing. */
export type HandlesOf<Needs extends readonly Capability[]> = Needs extends readonly []
  ? unknown
  : CapabilityKind extends Needs[number]["kind"]
    ? Partial<Handles>
    : Together<HandleOf[Needs[number]["kind"]]>;

/** One check of whether a resource may be used: told as `capability-checked`. */
export interface AccessRecord {
  /** `net(api.weather.com)`; never a value. */
  readonly resource: string;
  readonly granted: boolean;
  /** The reason for a denial. */
  readonly reason?: string;
}
