/** An expression that can backtrack far, and why its input is short, or why it does not backtrack. */
export interface Bounded {
  readonly file: string
  /** How the expression begins. */
  readonly begins: string
  readonly reason: string
}

const SENTENCE = 'A sentence has 1,000 characters at most here.'
const OWN_SETTING = 'An address of the configuration.'

export const bounded: readonly Bounded[] = [
  { file: 'packages/client/src/http/transport.ts', begins: '\\/+$', reason: OWN_SETTING },
  { file: 'packages/models/src/embed/pull-model.ts', begins: '\\/+$', reason: OWN_SETTING },
  {
    file: 'packages/engine/src/chat/commands.ts',
    begins: '^\\/(context|settings)',
    reason: 'What is left is taken to the end of the text, so the expression never goes back.',
  },
  {
    file: 'packages/engine/src/chat/commands.ts',
    begins: '^(\\S*)\\s*([\\s\\S]*)$',
    reason: 'What is left is taken to the end of the text, so the expression never goes back.',
  },
  { file: 'packages/sessions/src/repeats.ts', begins: '\\d+$', reason: 'A place of our own, such as `line 12`.' },
  {
    file: 'packages/client/src/calls/error-index.ts',
    begins: '^messages\\.',
    reason: 'The name of a field in an error of our own.',
  },
  {
    file: 'packages/core/src/iterations/progress-summary.ts',
    begins: '^\\s*(?:#{1,6}\\s+|',
    reason: 'A line has 400 characters at most here.',
  },
  {
    file: 'packages/core/src/prune/supersession.ts',
    begins: '^\\s*(?:<[a-z_-]{1,40}>)',
    reason: 'The first 200 characters of a result.',
  },
  {
    file: 'packages/core/src/search/terms/words.ts',
    begins: '\\p{Lu}+(?=',
    reason: 'A run has 1,000 characters at most.',
  },
  {
    file: 'packages/core/src/search/terms/words.ts',
    begins: '(?<=\\p{Script=Latin}',
    reason: 'Of a term 96 characters are spelled anew.',
  },
  {
    file: 'packages/models/src/embed/words.ts',
    begins: '[\\p{Script=Han}',
    reason: 'A run of capitals is taken whole by a later alternative, so none begins anew within it.',
  },
  { file: 'packages/core/src/snapshots/file-name.ts', begins: '^-+|-+$', reason: 'A slug has 50 characters at most.' },
  {
    file: 'packages/core/src/extractive/calls.ts',
    begins: '\\s*<<-?',
    reason: 'Of a line that is given to it 4,000 characters are read.',
  },
  { file: 'packages/core/src/speech/cues.ts', begins: '^(?:y|n|yes', reason: SENTENCE },
  { file: 'packages/core/src/speech/cues.ts', begins: '`[^`]{2,80}`', reason: SENTENCE },
  {
    file: 'packages/core/src/extractive/previous.ts',
    begins: '^\\s*(?:#{1,6}\\s*(.{1,80})',
    reason: 'A line has 400 characters at most here.',
  },
  {
    file: 'packages/core/src/extractive/reasons.ts',
    begins: '[.:!]+$',
    reason: 'A sentence has 320 characters at most.',
  },
  {
    file: 'packages/core/src/speech/requested-plan.ts',
    begins: '^[^\\S\\n]*(?:please',
    reason: 'The first 600 characters of a message.',
  },
  {
    file: 'packages/core/src/speech/statements.ts',
    begins: '`[^`]{0,200}`|',
    reason: 'A sentence has 320 characters at most.',
  },
]

/** Expressions that are composed of more than constants of the file. */
export const putTogether: readonly Bounded[] = [
  {
    file: 'packages/core/src/facts/sayings.ts',
    begins: 'new RegExp(words',
    reason: 'A sentence has 320 characters at most here.',
  },
  {
    file: 'packages/core/src/conversation/untrusted.ts',
    begins: 'new RegExp(`$',
    reason: 'Forms of the signs and letters of one tag; each begins with an opening sign.',
  },
  {
    file: 'packages/core/src/dates/named-dates.ts',
    begins: 'new RegExp(',
    reason: 'Names of months, weekdays and counts, and digits of limited number; each part is of limited length.',
  },
  {
    file: 'packages/contracts/src/contexts/scope.ts',
    begins: 'new RegExp(`^($',
    reason: 'Names of kinds, one of which a name begins with.',
  },
  {
    file: 'packages/core/src/tools/protocol.ts',
    begins: "new RegExp(PROTOCOL, 'giu')",
    reason: 'The same expression as a literal of the file.',
  },
  {
    file: 'packages/core/src/speech/injected.ts',
    begins: 'new RegExp(`<($',
    reason: 'Names of tags, and after them 400 characters at most.',
  },
  {
    file: 'packages/core/src/speech/injected.ts',
    begins: 'new RegExp(`</$',
    reason: 'The name of a tag.',
  },
  {
    file: 'packages/queue/src/redis/backend.ts',
    begins: 'new RegExp(`^$',
    reason: 'What the server says of itself, by a name of our own.',
  },
  {
    file: 'services/gateway/src/http/no-such-route.ts',
    begins: 'new RegExp(`^$',
    reason: 'A route of our own; each of its parts ends at a slash.',
  },
]
