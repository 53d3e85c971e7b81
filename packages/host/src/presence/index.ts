export { announceUp, findUp, type RunningUp, withdrawUp } from './presence.js'
export { FOLDER_WORD_MS_MAX, untilUp, WORD_MS_MAX } from './up-elsewhere.js'
