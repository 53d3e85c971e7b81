/** Messages of one batch. With the most chunks that each may have, a batch stays under the embedder's limit of texts. */
export const MESSAGES_PER_BATCH_MAX = 100

/** Batches of one job; a longer backlog goes on in the next job, so that threads take turns. */
export const BATCHES_PER_JOB_MAX = 10

/** Chunks of one user or assistant message: about 40,000 characters. What is past them is found by its words. */
export const MESSAGE_CHUNKS_MAX = 100

/** Chunks of one tool result: how it begins says what it is; the rest of a file or log is found by its words. */
export const RESULT_CHUNKS_MAX = 4

/** Messages before a result among which its call is looked for; parallel calls are answered within a few. */
export const CALL_DISTANCE_MAX = 100
