/* Prompts of providers in a thread, for adapters of frameworks that send the same ones. */
export { PromptThread, promptAvailability } from './conversation.js'
export type { PromptMessage, SpecificationVersion } from './prompt.js'
