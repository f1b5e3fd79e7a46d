import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import type { Server } from "../../src/server.ts";
import { web } from "./scene.ts";

/** The chat of the AI SDK, with its own transport, over a server. */
export class Page extends AbstractChat<UIMessage> {
  readonly seen: UIMessage[][];
  constructor(
    server: Pick<Server, "fetch">,
    name: string,
    { id = "c1", messages = [] as UIMessage[], body = {} } = {},
  ) {
    const seen: UIMessage[][] = [];
    let current = messages;
    const state = {
      status: "ready" as const,
      error: undefined,
      get messages() {
        return current;
      },
      set messages(next) {
        current = next;
      },
      pushMessage: (message: UIMessage) => void (current = [...current, message]),
      popMessage: () => void (current = current.slice(0, -1)),
      replaceMessage: (index: number, message: UIMessage) => {
        current = current.with(index, structuredClone(message));
        seen.push(current);
      },
      snapshot: <Value>(value: Value): Value => structuredClone(value),
    };
    super({
      id,
      state,
      transport: new DefaultChatTransport({
        api: `http://localhost/chat/${name}`,
        headers: web,
        body,
        fetch: async (url, init) => server.fetch(new Request(url, init)),
      }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    this.seen = seen;
  }
}
