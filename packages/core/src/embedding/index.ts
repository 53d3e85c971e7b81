export type { TextEmbedder } from './embedder.js'
export { type DescribedItem, itemText } from './item-text.js'
export { type ChunkPlace, packPlaces, unpackPlaces } from './places.js'
export { cosineOfQuantized, quantizeVector, vectorFromBytes } from './quantize.js'
export {
  EMBEDDED_CHARACTERS_MAX,
  MESSAGE_CHUNKS_MAX,
  RESULT_CHUNKS_MAX,
  type Source,
  type SourceMessage,
  sourceOf,
  sourcesOf,
} from './sources.js'
