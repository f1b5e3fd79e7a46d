import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { runAsTest } from "../run-as-test.ts";
import type { InspectedCall, InspectedRun } from "../view.ts";
import { useModal } from "./modal.ts";

interface AsTestProps {
  readonly view: InspectedRun;
  readonly call?: InspectedCall;
}

/** A button that shows a run, or a call of it, as a test to copy. */
export function AsTest({ view, call }: AsTestProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="act" data-act="test" onClick={() => setOpen(true)}>
        Copy as test
      </button>
      {isOpen && <TestDialog {...{ view, call }} onClose={() => setOpen(false)} />}
    </>
  );
}

interface TestDialogProps {
  readonly view: InspectedRun;
  readonly call: InspectedCall | undefined;
  readonly onClose: () => void;
}

function TestDialog({ view, call, onClose }: TestDialogProps): JSX.Element {
  const modal = useModal(onClose);
  const [told, setTold] = useState("");
  const test = runAsTest(view, call);
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setTold("Copied."),
      () => setTold("This page may not write to the clipboard: mark the text and copy it."),
    );
  };
  return (
    <dialog {...modal.props} class="as-test" aria-labelledby="test-title">
      <header>
        <h2 id="test-title">
          {call === undefined ? "The run as a test" : `The call of ${call.tool} as a test`}
        </h2>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={modal.close}>
          ✕
        </button>
      </header>
      {"cannot" in test ? (
        <p class="notice">{test.cannot}</p>
      ) : (
        <>
          <p class="quiet">
            A script says what the model said, and calls give what they gave: nothing is asked and nothing
            happens. The agent has to decide as it did.
          </p>
          <textarea readOnly spellcheck={false} rows={18} aria-label="The test" value={test.text} />
          <p class="buttons">
            <button type="button" class="primary" onClick={() => copy(test.text)}>
              Copy
            </button>
            <span role="status">{told}</span>
          </p>
        </>
      )}
    </dialog>
  );
}
