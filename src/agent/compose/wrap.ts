import { contentText } from "../../message/message.ts";
import { WritError } from "../../error/writ-error.ts";
import { toJson } from "../../util/json.ts";
import type { Runnable } from "../runnable.ts";
import { type Composite, composite } from "./composite.ts";
import { runMember } from "./course.ts";
import { inputOfAll, type InputOfAll, memberOf, type OutputOfOne } from "./members.ts";

/**
 * Lets a teacher instruct a student: both get the same input, the teacher first, and the student's model gets the teacher's answer
 * after the student's own instructions, in this run only. The student itself does not change, so any number of runs can go on at the same
 * time. The output is the student's.
 *
 * @throws WritError `definition-invalid` for a value that is not an agent, or a student that asks no model
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { wrap } from "writ/compose";
 *
 * const teacher = agent({ name: "teacher", model: "ollama/qwen2.5:14b", instructions: "Say how to solve it, not the solution." });
 * const student = agent({ name: "student", model: "ollama/qwen2.5:0.5b" });
 *
 * console.log(await wrap(teacher, student)("How many days are 3 weeks and 4 days?"));
 * ```
 */
export function wrap<Teacher extends Runnable, Student extends Runnable>(
  teacher: Teacher,
  student: Student,
): Composite<InputOfAll<Teacher | Student>, OutputOfOne<Student>> {
  const teaches = memberOf(teacher, "wrap()");
  const learns = memberOf(student, "wrap()");
  if ("modelId" in student && student.modelId === undefined)
    throw new WritError("definition-invalid", {
      where: "wrap()",
      reason: `the student "${learns.name}" asks no model, so that nobody can be told anything.`,
    });
  return composite({
    name: `wrap(${teaches.name}, ${learns.name})`,
    members: [teaches, learns],
    input: inputOfAll([teaches, learns]),
    outputs: learns.about.outputs,
    async course(input, run) {
      const said = toJson(await runMember({ member: teaches, place: "0", input }, run));
      const instructions = said.ok ? contentText(said.value) : "";
      return runMember({ member: learns, place: "1", input, instructions }, run);
    },
  });
}
