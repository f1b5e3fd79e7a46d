import { carryOut, type Carrying } from "../durable/carry-out.ts";
import { withGrace } from "../durable/grace.ts";
import type { RunJournal } from "../durable/run-store.ts";
import { isWritError } from "../error/writ-error.ts";
import { json } from "../server/route.ts";
import type { RunsToInspect } from "./load-run.ts";

/** The time that calls and replies have to end when the inspector ends, as for a worker. */
const graceMs = 10_000;

/** The runs that were begun on the page. This process carries them out, even if it carries out no others. */
export class RunsBegunHere {
  readonly #ids = new Set<string>();
  readonly #carried = new Set<Carrying>();
  #isLeaving = false;
  readonly #around: RunsToInspect;
  readonly #works: boolean;

  constructor(around: RunsToInspect, works: boolean) {
    this.#around = around;
    this.#works = works;
  }

  /** Carries out a run that has just begun; the response has its id. */
  async begin({ id }: { readonly id: string }): Promise<Response> {
    this.#ids.add(id);
    const journal = this.#works ? undefined : await this.#open(id);
    if (journal !== undefined) void this.#carry(journal);
    return json({ id }, 201);
  }

  /** Goes on with a run after an answer to one of its questions, unless another question is open or another process has taken the run. */
  async goOn(id: string): Promise<void> {
    if (this.#works || !this.#ids.has(id)) return;
    const journal = await this.#around.store.open(id).catch(() => undefined);
    if (journal !== undefined) await this.#carry(journal);
  }

  /** Lets calls and replies under way end, and gives the runs up: a worker, or another inspector that begins them again, goes on with them. */
  async drain(): Promise<void> {
    this.#isLeaving = true;
    for (const carrying of this.#carried) carrying.leave();
    const left = Promise.all([...this.#carried].map(({ done }) => done));
    await withGrace(left, graceMs, this.#around.host);
  }

  /** The journal of a run; undefined if a worker of another process was faster. */
  async #open(id: string): Promise<RunJournal | undefined> {
    try {
      return await this.#around.store.open(id);
    } catch (error) {
      if (isWritError(error, "run-claimed")) return undefined;
      throw error;
    }
  }

  async #carry(journal: RunJournal): Promise<void> {
    const carrying = carryOut(journal, this.#around);
    this.#carried.add(carrying);
    if (this.#isLeaving) carrying.leave();
    const unwatch = this.#around.store.watch(() => carrying.look()); // another process may cancel it
    await carrying.done.finally(() => {
      unwatch();
      this.#carried.delete(carrying);
    });
  }
}
