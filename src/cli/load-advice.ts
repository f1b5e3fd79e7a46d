import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../error/writ-error.ts";

/** Advice about a program that Node cannot load, by what Node says of it. */
export function loadAdvice(cause: unknown): string {
  const { code = "", url } = Object(cause) as { readonly code?: string; readonly url?: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it is looked at
  const message = messageOf(cause);
  if (code === "ERR_MODULE_NOT_FOUND") return aboutMissing(message, url);
  const found = advices.find(([sign]) => sign.test(code) || sign.test(message));
  if (found !== undefined) return found[1];
  const [, module, name] = /module '([^']+)' does not provide an export named '([^']+)'/.exec(message) ?? [];
  return module === undefined || name === undefined ? "Correct the file." : aboutName(module, name);
}

const advices: readonly (readonly [sign: RegExp, advice: string])[] = [
  [
    /^ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX$/,
    "Node leaves types out and translates nothing: write it without enums, namespaces and parameter properties (`erasableSyntaxOnly` in tsconfig.json finds them), or name the compiled JavaScript.",
  ],
  [
    /^ERR_UNKNOWN_FILE_EXTENSION$/,
    "Node runs .ts, .mts, .cts, .js, .mjs and .cjs: rename the file, or name the compiled JavaScript.",
  ],
  [
    /^Cannot use import statement outside a module$/,
    "Set `type` to `module` in package.json (npm pkg set type=module), or give the file the ending .mts.",
  ],
  [/^require is not defined/, "Write `import` in place of `require`, or give the file the ending .cts."],
  [/^__dirname is not defined/, "Write `import.meta.dirname` in place of `__dirname`."],
  [/^__filename is not defined/, "Write `import.meta.filename` in place of `__filename`."],
];

/** A file by its name without its ending, or by that of the JavaScript which nobody has made of it; or a package. */
function aboutMissing(message: string, url: string | undefined): string {
  if (url === undefined) {
    const [, name = ""] = /package '([^']+)'/.exec(message) ?? [];
    return /^[@~]\/|^#/.test(name)
      ? "Node reads no `paths` of tsconfig.json: write the path of the file, or use `imports` of package.json."
      : `Install it (npm i ${name}), or correct its name.`;
  }
  const path = fileURLToPath(url);
  const meant = [
    `${path}.ts`,
    `${path}.js`,
    path.replace(/\.([cm]?)js$/, ".$1ts"),
    join(path, "index.ts"),
  ].find((file) => file !== path && existsSync(file));
  return meant === undefined
    ? "Correct the path of the import."
    : `Node takes the whole name of a file: the import is of ${meant}.`;
}

/** A name that a module does not export: where writ has it, or that it may be a type. */
function aboutName(module: string, name: string): string {
  const found = /^writ(?:\/|$)/.test(module) ? entriesWith(name) : [];
  const [first] = found;
  if (first === undefined)
    return `Correct the name; a type is imported by \`import type { ${name} } from "${module}"\`.`;
  const entry = found.find((each) => each.module === module) ?? first;
  return `Write \`import ${entry.isType ? "type " : ""}{ ${name} } from "${entry.module}"\`.`;
}

/** This package, from the source and from the build. */
const packageFolder = join(import.meta.dirname, "../..");

/** The entries of writ that export a name. */
function entriesWith(name: string): readonly { readonly module: string; readonly isType: boolean }[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package is this one
  const { exports } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  };
  return Object.entries(exports).flatMap(([path, { types }]) => {
    const file = join(packageFolder, types ?? "");
    const text = types !== undefined && existsSync(file) ? readFileSync(file, "utf8") : "";
    return [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all, names = ""]) =>
      names
        .split(",")
        .map((part) => /^(type )?(?:\w+ as )?(\w+)$/.exec(part.trim()))
        .filter((part) => part?.[2] === name)
        .map((part) => ({ module: `writ${path.slice(1)}`, isType: (all ?? part?.[1]) !== undefined })),
    );
  });
}
