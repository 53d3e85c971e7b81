import { Job, Queue } from 'bullmq'

/**
 * A job whose data is JSON text, stored as it is. BullMQ would store it as a text inside a JSON text, with each of its quotes
 * escaped; to write and to read that takes a tenth of the time that a message spends on its way.
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
