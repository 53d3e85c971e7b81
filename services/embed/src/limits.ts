/** Messages of one batch. Even with the most chunks per message, a batch stays under the embedder's limit of texts. */
export const MESSAGES_PER_BATCH_MAX = 100

/** Batches of one job; a longer backlog continues in the next job, so that other threads are served in between. */
export const BATCHES_PER_JOB_MAX = 10

/** Chunks of one user or assistant message: about 40,000 characters. The rest is found by words only. */
export const MESSAGE_CHUNKS_MAX = 100

/** Chunks of one tool result: its beginning identifies it; the rest of a file or log is found by words only. */
export const RESULT_CHUNKS_MAX = 4

/** Messages before a result that are searched for its call; parallel calls are answered within a few. */
export const CALL_DISTANCE_MAX = 100
