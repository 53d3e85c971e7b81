import { Job, Queue } from 'bullmq'

/**
 * A job whose data is JSON text and is stored unchanged. BullMQ would store it as a string inside JSON, with each of its
 * quotes escaped; encoding and decoding that takes a tenth of the time from the producer to the worker.
 */
class TextJob extends Job<string, void> {
  override asJSON(): ReturnType<Job['asJSON']> {
    const { data } = this
    this.data = ''
    try {
      return { ...super.asJSON(), data }
    } finally {
      this.data = data
    }
  }
}

/** A queue whose jobs are added as {@link TextJob}s. */
export class TextQueue extends Queue {
  protected override get Job(): typeof Job {
    return TextJob as typeof Job
  }
}
