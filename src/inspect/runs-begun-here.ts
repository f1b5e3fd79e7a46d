import { carryOut, type Carrying } from "../durable/carry-out.ts";
import { withGrace } from "../durable/grace.ts";
import type { RunJournal } from "../durable/run-store.ts";
import { isWritError } from "../error/writ-error.ts";
import { json } from "../server/route.ts";
import type { RunsToInspect } from "./load-run.ts";

/** The time that calls and replies have to end when the inspector ends, as at a worker. */
const graceMs = 10_000;

/** The runs that were begun on the page. They are carried out here, also where this process carries out no others. */
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

  /** Carries out a run that has just been begun; the answer tells its id. */
  async begin({ id }: { readonly id: string }): Promise<Response> {
    this.#ids.add(id);
    const journal = this.#works ? undefined : await this.#open(id);
    if (journal !== undefined) void this.#carry(journal);
    return json({ id }, 201);
  }

  /** Goes on with a run one of whose questions was answered, unless another one is open or somebody else has taken it. */
  async goOn(id: string): Promise<void> {
    if (this.#works || !this.#ids.has(id)) return;
    const journal = await this.#around.store.open(id).catch(() => undefined);
    if (journal !== undefined) await this.#carry(journal);
  }

  /** Lets calls and replies that are at work end, and gives the runs up: a worker, or whoever begins them again, goes on with them. */
  async drain(): Promise<void> {
    this.#isLeaving = true;
    for (const carrying of this.#carried) carrying.leave();
    const left = Promise.all([...this.#carried].map(({ done }) => done));
    await withGrace(left, graceMs, this.#around.host);
  }

  /** The journal of a run; undefined where a worker of another process was faster to take it. */
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
    const unwatch = this.#around.store.watch(() => carrying.look()); // somebody may cancel it elsewhere
    await carrying.done.finally(() => {
      unwatch();
      this.#carried.delete(carrying);
    });
  }
}
