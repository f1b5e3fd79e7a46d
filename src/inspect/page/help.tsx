import type { JSX } from "preact";
import { useModal } from "./modal.ts";

const keys: readonly (readonly [string, string])[] = [
  ["j  k", "next and previous run; next and previous call once one is shown"],
  ["←  →", "close and open the turn or the run inside that is shown; ← again: what is around it"],
  ["Home  End", "the first and the last of them"],
  ["Enter", "open the run; show the first call"],
  ["Esc", "close the call, then the run"],
  ["/", "filter and search the runs"],
  ["1  2  3  4", "calls, prompts, policy, texts"],
  ["a  d", "go to Approve or Refuse of the question that is shown"],
  ["f", "fork the run"],
  ["r", "replay the run: does it tell what is recorded"],
  ["q", "approvals"],
  ["p", "playground: talk with an agent, try a call"],
  ["c", "mark the run; on a second run: compare both"],
  ["t", "light, dark, as the system has it"],
  ["Ctrl K", "all that can be opened and done; on a Mac Cmd K"],
  ["?", "this help"],
];

/** The keys of the page. */
export function Help({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const modal = useModal(onClose);
  return (
    <dialog {...modal.props} aria-labelledby="help-title">
      <header>
        <h2 id="help-title">Keys</h2>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={modal.close}>
          ✕
        </button>
      </header>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key} class="fact">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
