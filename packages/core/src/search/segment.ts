import { searchKinds } from '@heddle/contracts'
import { finish, type Pausable } from '../recall/steps.js'
import { type Block, entriesOf, keyOf, writeBlocks } from './blocks.js'
import { ByteWriter } from './bytes.js'
import { kindTerm, type SearchDocument } from './document.js'
import { lengthOf, packMeasure } from './measure.js'
import { mergePostings } from './posting-runs.js'
import { type Posting, readPostings, writePostings } from './postings.js'

/**
 * An immutable part of a scope's postings: all terms of some documents in order, divided into blocks. New documents
 * make a small segment; eight of similar size are merged, so that a scope has few segments and each document is
 * rewritten only a handful of times, however large the scope grows.
 */
export interface Segment {
  readonly documents: number
  /** Number of terms in all documents. */
  readonly length: number
  /** The numbers of the documents' threads, ascending. */
  readonly threads: readonly number[]
  readonly blocks: readonly Block[]
}

/** A document to be written into a segment. */
export interface PlacedDocument extends SearchDocument {
  readonly thread: number
  readonly seq: number
}

/** The words of some documents, in memory. */
export interface PostingLists extends Omit<Segment, 'blocks'> {
  /** The postings of each term. */
  readonly lists: ReadonlyMap<string, Uint8Array>
}

/** The postings of some documents by term: what a segment has in blocks. */
export function postingLists(documents: readonly PlacedDocument[]): PostingLists {
  const inOrder = [...documents].sort((left, right) => left.thread - right.thread || left.seq - right.seq)
  const postings = new Map<string, Posting[]>()
  for (const { thread, seq, terms, length, isReply, dated } of inOrder) {
    for (const [term, places] of terms) {
      let list = postings.get(term)
      if (list === undefined) {
        list = []
        postings.set(term, list)
      }
      for (let index = 0; index < places.length; index += 2) {
        const [passage = 0, times = 0] = [places[index], places[index + 1]]
        list.push({
          thread,
          seq,
          passage,
          measure: packMeasure({ length, times, isReply, isDated: dated.has(passage) }),
        })
      }
    }
  }
  const writer = new ByteWriter()
  return {
    documents: documents.length,
    length: documents.reduce((sum, { length }) => sum + length, 0),
    threads: [...new Set(inOrder.map(({ thread }) => thread))],
    lists: new Map([...postings].map(([term, list]) => [term, writePostings(list, writer)])),
  }
}

export function buildSegment(documents: readonly PlacedDocument[]): Segment {
  const { lists, ...segment } = postingLists(documents)
  return { ...segment, blocks: finish(writeBlocks([...lists].map(([term, list]) => [keyOf(term), list]))) }
}

/** Blocks that are read, and terms that are merged, between two yields: a few milliseconds. */
const BLOCKS_PER_STEP = 16
const TERMS_PER_STEP = 512

export function* mergeSegments(segments: readonly Segment[]): Pausable<Segment> {
  const lists = new Map<string, Uint8Array[]>()
  const blocks = segments.flatMap((segment) => segment.blocks)
  for (const [at, { bytes }] of blocks.entries()) {
    for (const [key, list] of entriesOf(bytes)) {
      const known = lists.get(key)
      if (known) known.push(list)
      else lists.set(key, [list])
    }
    if (at % BLOCKS_PER_STEP === 0) yield
  }
  const writer = new ByteWriter()
  const merged: [string, Uint8Array][] = []
  for (const [key, ofTerm] of lists) {
    const [only = new Uint8Array(), ...more] = ofTerm
    merged.push([key, more.length === 0 ? only : mergePostings(ofTerm, { writer })])
    if (merged.length % TERMS_PER_STEP === 0) yield
  }
  const threads = new Set(segments.flatMap((segment) => segment.threads))
  return {
    documents: segments.reduce((sum, { documents }) => sum + documents, 0),
    length: segments.reduce((sum, { length }) => sum + length, 0),
    threads: [...threads].sort((left, right) => left - right),
    blocks: yield* writeBlocks(merged),
  }
}

/** The segment without the documents of a thread, and without terms that only those had. */
export function dropThread(segment: Segment, thread: number): Pausable<Segment> {
  return dropDocuments(segment, (of) => of === thread)
}

/** The segment without some documents, and without terms that only those had. */
export function* dropDocuments(
  segment: Segment,
  isDropped: (thread: number, seq: number) => boolean,
): Pausable<Segment> {
  const threads = new Set<number>()
  const kinds = new Set(searchKinds.map((kind) => keyOf(kindTerm(kind))))
  let documents = 0
  let [lengthBefore, lengthAfter] = [0, 0]
  const entries: [string, Uint8Array][] = []
  const writer = new ByteWriter()
  const keep = (thread: number, seq: number) => !isDropped(thread, seq)
  for (const [at, { bytes }] of segment.blocks.entries()) {
    if (at % BLOCKS_PER_STEP === 0) yield
    for (const [key, list] of entriesOf(bytes)) {
      // Each document has one kind, in one place.
      if (kinds.has(key)) {
        readPostings(list, (thread, seq, measure) => {
          lengthBefore += lengthOf(measure)
          if (isDropped(thread, seq)) return
          documents++
          lengthAfter += lengthOf(measure)
          threads.add(thread)
        })
      }
      const left = mergePostings([list], { keep, writer })
      if (left.length > 0) entries.push([key, left])
    }
  }
  return {
    documents,
    // Lengths of single documents are stored as classes.
    length: Math.round((segment.length * lengthAfter) / Math.max(1, lengthBefore)),
    threads: segment.threads.filter((thread) => threads.has(thread)),
    blocks: yield* writeBlocks(entries),
  }
}

/** Bytes of all blocks; measures the size of a segment. */
export function segmentBytes({ blocks }: Segment): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
}
