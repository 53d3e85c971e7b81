export { RESUME_CHARACTERS_MAX, resumeText } from './resume-text.js'
