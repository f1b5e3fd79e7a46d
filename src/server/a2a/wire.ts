import type { Json } from "../../util/json.ts";

/** A part of a message or an artifact of A2A 1.0: text, the bytes of a file in base64, its address, or JSON. */
export interface A2aPart {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly mediaType?: string;
}

/** A message of A2A 1.0, with the fields that this server reads and writes. */
export interface A2aMessage {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly A2aPart[];
}

/** The states of a task that this server uses. */
export type A2aState = `TASK_STATE_${
  | "SUBMITTED"
  | "WORKING"
  | "INPUT_REQUIRED"
  | "COMPLETED"
  | "FAILED"
  | "CANCELED"
  | "REJECTED"}`;

export interface A2aStatus {
  readonly state: A2aState;
  readonly message?: A2aMessage;
  readonly timestamp: string;
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly parts: readonly A2aPart[];
}

export interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts: readonly A2aArtifact[];
  readonly history: readonly A2aMessage[];
}

interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
}

/** One event of a stream about a task (`StreamResponse`). */
export type A2aUpdate =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: OfTask & { readonly status: A2aStatus } }
  | {
      readonly artifactUpdate: OfTask & {
        readonly artifact: A2aArtifact;
        /** True if the parts are added to earlier ones, false if they replace them. */
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };

/** The refusals of the protocol, with their codes in JSON-RPC. */
const refusals = {
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
} as const;

/** A refusal with a reason and a code of the protocol. */
export class A2aRefusal extends Error {
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals, message: string) {
    super(message);
    this.reason = reason;
  }

  get code(): number {
    return refusals[this.reason];
  }
}

/** The id of a request of JSON-RPC. */
export type RpcId = string | number | null;
