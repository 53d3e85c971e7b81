import type { IQueueBackend, Queue } from 'bullmq'

/** A job's data is its payload as text: see `encodePayload`. */
export type BullQueue = Queue<string, void, string, string, void, string, IQueueBackend>
