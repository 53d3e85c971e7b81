export { type ChosenEmbedder, checkLocalModel, chooseEmbedder, type EmbedderSettings } from './embed/choose-embedder.js'
export { type Embedder, embedderLimits } from './embed/embedder.js'
export { createEmbedders, type Embedders } from './embed/embedders.js'
export { createHashingEmbedder } from './embed/hashing-embedder.js'
export { createLocalEmbedder, type LocalEmbedderOptions } from './embed/local-embedder.js'
export { DEFAULT_MODEL, listLocalModels, modelFolders } from './embed/local-models.js'
export { createOpenAiEmbedder, type OpenAiEmbedderOptions } from './embed/openai-embedder.js'
export { pullModel } from './embed/pull-model.js'
export { createHttpReranker, type HttpRerankerOptions } from './rerank/http-reranker.js'
export { createLocalReranker, type LocalRerankerOptions } from './rerank/local-reranker.js'
export { openReranker, type RerankerSettings } from './rerank/open-reranker.js'
export { type Reranker, rerankerLimits } from './rerank/reranker.js'
export { type Accounts, accountedFor } from './summarize/accounted.js'
export {
  chooseSummarizer,
  createSummarizers,
  fixedSummarizer,
  type SummarizerChoice,
  type Summarizers,
} from './summarize/choose-summarizer.js'
export { createExtractiveSummarizer } from './summarize/extractive-summarizer.js'
export { modelSummarizerBounds } from './summarize/fold.js'
export { createModelSummarizer } from './summarize/model-summarizer.js'
export type { FinishedParts, OwnPrompt, Summarizer, SummaryCompanions } from './summarize/summarizer.js'
