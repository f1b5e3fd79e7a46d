// A page with useChat of the AI SDK, as an application has it: what was said is fetched, an answer at work is come back to.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
} from "ai";
import { createElement as element, useState } from "react";
import { createRoot } from "react-dom/client";

const { api, chat } = Object.fromEntries(new URLSearchParams(location.search));
const { messages: kept } = await (await fetch(`${api}/${chat}`)).json();
/** Arguments in the place of the model's, by the id of the approval. */
const edits = {};
const transport = new DefaultChatTransport({ api, body: () => ({ arguments: edits }) });

function Approval({ approval, input, answer }) {
  const [text, setText] = useState(JSON.stringify(input));
  const respond = (approved) => {
    edits[approval.id] = JSON.parse(text);
    answer({ id: approval.id, approved });
  };
  return element(
    "div",
    null,
    element("textarea", { value: text, onChange: ({ target }) => setText(target.value) }),
    element("button", { onClick: () => respond(true) }, "Approve"),
    element("button", { onClick: () => respond(false) }, "Deny"),
  );
}

function Part({ part, answer }) {
  if (part.type === "text") return element("p", null, part.text);
  if (part.type === "reasoning") return element("em", null, part.text);
  if (part.type === "file") return element("img", { src: part.url });
  if (!isToolUIPart(part)) return null;
  const { state, input, output, approval } = part;
  return element(
    "section",
    null,
    `${getToolName(part)} ${state} ${JSON.stringify(output ?? input)}`,
    state === "approval-requested" && element(Approval, { approval, input, answer }),
  );
}

function Chat() {
  const [told, setTold] = useState([]);
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: chat,
    messages: kept,
    transport,
    resume: true,
    onData: ({ type, data }) => setTold((before) => [...before, `${type} ${JSON.stringify(data.value)}`]),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const submit = (event) => {
    event.preventDefault();
    const [text, files] = event.target.elements;
    void sendMessage({ text: text.value, ...(files.files.length > 0 && { files: files.files }) });
    event.target.reset();
  };
  return element(
    "main",
    null,
    messages.map(({ id, role, metadata, parts }) =>
      element(
        "article",
        { key: id, className: role, title: JSON.stringify(metadata) },
        parts.map((part, place) => element(Part, { key: place, part, answer: addToolApprovalResponse })),
      ),
    ),
    element(
      "form",
      { onSubmit: submit },
      element("input", { type: "text" }),
      element("input", { type: "file" }),
    ),
    element("aside", null, told.join(", ")),
    element("footer", null, error === undefined ? status : String(error)),
  );
}

createRoot(document.body.appendChild(document.createElement("div"))).render(element(Chat));
