/**
 * Agents, skills, prompts and knowledge from files.
 *
 * @module writ/files
 */
export { type LibraryParts, type LibrarySkill, type SkillLibrary } from "./agent/skill-library.ts";

export {
  type DefinitionOptions,
  type FileDefinition,
  loadAgent,
  loadAgents,
} from "./adapters/files/definition-file.ts";
export { knowledgeFile, type KnowledgeFileOptions } from "./adapters/files/knowledge-file.ts";
export { promptFile } from "./adapters/files/prompt-file.ts";
export { skillFromFolder, skillLibrary, type SkillLibraryOptions } from "./adapters/files/skills.ts";
