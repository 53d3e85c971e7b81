/** The reason with which jobs are aborted when their worker stops. */
export const workerStops = 'the worker stops'
