import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A dialog before the page. */
interface Modal {
  /** The properties of the `dialog`. */
  readonly props: {
    readonly ref: RefObject<HTMLDialogElement | null>;
    readonly onCancel: () => void;
    readonly onClose: () => void;
  };
  /** Closes it, and gives the focus back. */
  readonly close: () => void;
}

/**
 * Shows a dialog above the page. It takes the focus before the next key, and is gone before the next key after it was closed: a browser may
 * draw, and report the close, later than a fast typist presses keys.
 */
export function useModal(onClose: () => void): Modal {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current?.showModal(), []);
  const close = (): void => {
    if (ref.current === null) return;
    ref.current.close();
    onClose();
  };
  return { props: { ref, onCancel: close, onClose: close }, close };
}
