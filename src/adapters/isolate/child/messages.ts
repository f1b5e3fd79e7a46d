/** A message of the parent. It is trusted, because the parent started the cell. */
export type ToCell =
  | {
      readonly type: "load";
      readonly module: string;
      readonly export: string;
      /** The names of the handles of the context: `fetch`, `fs.readText`, `env` and so on. */
      readonly handles: readonly string[];
    }
  | {
      readonly type: "call";
      readonly call: number;
      readonly args: unknown;
      readonly callId: string;
      readonly idempotencyKey: string;
    }
  | { readonly type: "abort"; readonly call: number; readonly reason: string }
  | ToCellAnswer;

/** The answer of a handle, or its failure. */
export type ToCellAnswer =
  | { readonly type: "answer"; readonly request: number; readonly ok: true; readonly value: unknown }
  | {
      readonly type: "answer";
      readonly request: number;
      readonly ok: false;
      readonly message: string;
      readonly code?: string;
    };

/** A message of a cell. The parent trusts none of it. */
export type FromCell =
  /** `dataBytes`: the memory that Node has reserved before the module is loaded; 0 if it is unknown. */
  | { readonly type: "ready"; readonly dataBytes: number }
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "result"; readonly call: number; readonly value: unknown }
  /** `request` is the handle's request whose failure this is. */
  | { readonly type: "failure"; readonly call: number; readonly message: string; readonly request?: number }
  | { readonly type: "progress"; readonly call: number; readonly value: unknown }
  | {
      readonly type: "ask";
      readonly call: number;
      readonly request: number;
      readonly handle: string;
      readonly args: readonly unknown[];
    }
  | { readonly type: "forget"; readonly call: number; readonly request: number };

/** The pipe for all messages. */
export const pipeFd = 3;
/** The pipe for requests that block the cell: `env` and `secret` return their values at once. */
export const instantFd = 4;
