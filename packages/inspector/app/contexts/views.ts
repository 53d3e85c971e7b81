export const contextViews = ['left-out', 'find', 'difference', 'what-if'] as const
/** The views of a context besides that of its messages. */
export type ContextView = (typeof contextViews)[number]

export const isContextView = (value: unknown): value is ContextView => contextViews.some((view) => view === value)
