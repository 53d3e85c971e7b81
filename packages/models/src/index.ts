export { type Accounts, accountedFor } from './accounted.js'
export { type ChosenEmbedder, checkLocalModel, chooseEmbedder, type EmbedderSettings } from './choose-embedder.js'
export {
  chooseSummarizer,
  createSummarizers,
  fixedSummarizer,
  type SummarizerChoice,
  type Summarizers,
} from './choose-summarizer.js'
export { type Embedder, embedderLimits } from './embedder.js'
export { createEmbedders, type Embedders } from './embedders.js'
export { createExtractiveSummarizer } from './extractive-summarizer.js'
export { modelSummarizerBounds } from './fold.js'
export { createHashingEmbedder } from './hashing-embedder.js'
export { createLocalEmbedder, type LocalEmbedderOptions } from './local-embedder.js'
export { DEFAULT_MODEL, listLocalModels, modelFolders } from './local-models.js'
export { createModelSummarizer } from './model-summarizer.js'
export { createOpenAiEmbedder, type OpenAiEmbedderOptions } from './openai-embedder.js'
export { pullModel } from './pull-model.js'
export type { FinishedParts, Summarizer, SummaryCompanions } from './summarizer.js'
