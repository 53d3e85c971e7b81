/** The kinds of artifacts in the ledger of a thread, the most useful first. */
export const artifactKinds = ['file', 'command', 'service', 'ticket', 'url'] as const
export type ArtifactKind = (typeof artifactKinds)[number]

/** The last state of a file after the calls that succeeded, or the outcome of the last run of a command. */
export const artifactStates = ['written', 'moved', 'deleted', 'read', 'failed', 'passed'] as const
export type ArtifactState = (typeof artifactStates)[number]
