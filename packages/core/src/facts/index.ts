export {
  areTimed,
  type ContextFact,
  type ContextFacts,
  type FactLimits,
  factLimits,
  factsRead,
} from './context-facts.js'
export { extractAll, extractFacts, FACTS_PER_MESSAGE_MAX } from './extract.js'
export { type ExtractedFact, FACT_RULES, type Fact, type FactDraft } from './fact.js'
export { FACT_PROMPT, type FactPrompt, factPrompt, readFactReply } from './model-reply.js'
export { rankFacts } from './rank.js'
export { type FactLine, type FactPart, type FactParts, factParts } from './render-facts.js'
export { holdsSecret } from './secrets.js'
export { factKey, heldAt, type Standing, standingsOf } from './standings.js'
export { subjectKey } from './subject-key.js'
