import { useLayoutEffect, useRef } from "preact/hooks";

/** The act of a key. If it returns false, the browser handles the key. */
export type KeyActs = Readonly<Record<string, (event: KeyboardEvent) => void | boolean>>;

const isWritten = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

/** True for a focused box that these keys scroll. In lists with a chosen row they move through the rows instead. */
function isScrolling({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || target === document.body) return false;
  if (target.matches("[role=listbox], [role=treegrid]")) return false;
  if (!/auto|scroll/.test(getComputedStyle(target).overflow)) return false;
  const isTaller = target.scrollHeight > target.clientHeight;
  if (key === "ArrowUp" || key === "ArrowDown" || key === "Home" || key === "End") return isTaller;
  return (key === "ArrowLeft" || key === "ArrowRight") && target.scrollWidth > target.clientWidth;
}

/** Handles keys, except while a person types. Escape leaves a text field. */
export function useKeys(acts: KeyActs): void {
  const latest = useRef(acts);
  latest.current = acts;
  useLayoutEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null)
        return;
      if (isWritten(event.target)) {
        if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
        return;
      }
      const isPressed = event.target instanceof HTMLElement && event.target.matches("button, a, summary");
      if (isPressed && (event.key === "Enter" || event.key === " ")) return;
      if (isScrolling(event)) return;
      if (latest.current[event.key]?.(event) !== false && latest.current[event.key] !== undefined)
        event.preventDefault();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Handles Ctrl or Cmd with a key, also while a person types. */
export function useChord(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useLayoutEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== key) return;
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) latest.current();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Moves the focus to an element. */
export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

/** Does the act of a button. */
export function clickOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}
