/** Messages of one batch. Even with the most chunks per message, a batch stays under the embedder's limit of texts. */
export const MESSAGES_PER_BATCH_MAX = 100

/** Batches of one job; a longer backlog continues in the next job, so that other threads are served in between. */
export const BATCHES_PER_JOB_MAX = 10
