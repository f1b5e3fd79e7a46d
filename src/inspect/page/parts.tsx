import type { ComponentChildren, JSX } from "preact";

/** A part of the drawer. */
export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A fact with its name, in a list of facts. */
export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The error of a person's act, announced at once; nothing if there is none. */
export function Trouble({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined || text === "") return null;
  return (
    <p class="trouble" role="alert">
      {text}
    </p>
  );
}
