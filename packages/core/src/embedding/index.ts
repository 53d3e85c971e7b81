export type { TextEmbedder } from './embedder.js'
export { type DescribedItem, itemText } from './item-text.js'
export { type ChunkPlace, packPlaces, unpackPlaces } from './places.js'
export { cosineOfQuantized, quantizeVector, vectorFromBytes } from './quantize.js'
